import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { counted } from '../../src/core/lead/counted.ts';

/** A program from the npm registry. */
export interface Package {
  readonly name: string;
  readonly version: string;
  /** Other packages that it needs at such a version. */
  readonly overrides?: Readonly<Record<string, string>>;
  /** What stands in for a package that wants a compiler and is not used here: the text of its one file. */
  readonly replaced: Readonly<Record<string, string>>;
  /** For people who wait. */
  readonly size: string;
}

const sayEveryMs = 15_000;

// oxlint-disable-next-line node/no-process-env -- a script of its own, with variables of its own
const cache = process.env['LEADSYNC_VERIFY_CACHE'] ?? join(homedir(), '.cache', 'leadsync');

/**
 * The folder with the program's `node_modules`, installed into the cache once; an install that was broken off does not
 * count. Scripts of packages are not run.
 */
export async function installed(
  { name, version, overrides = {}, replaced, size }: Package,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const folder = join(cache, `${name}-${version}`);
  if (existsSync(folder)) return folder;
  say(`Installing ${name} ${version} (${size}) into ${folder}, once`);
  await mkdir(cache, { recursive: true });
  const unfinished = await mkdtemp(`${folder}.new-`);
  const begun = Date.now();
  const progress = setInterval(() => {
    say(`… ${counted(Math.round((Date.now() - begun) / 1000), 'second')}`);
  }, sayEveryMs);
  try {
    const manifest = { private: true, dependencies: { [name]: version }, overrides };
    await writeFile(join(unfinished, 'package.json'), JSON.stringify(manifest));
    await npmInstall(unfinished, signal);
    for (const [other, text] of Object.entries(replaced)) await replace(unfinished, other, text);
    await rename(unfinished, folder);
  } finally {
    clearInterval(progress);
    await rm(unfinished, { recursive: true, force: true });
  }
  return folder;
}

async function npmInstall(cwd: string, signal: AbortSignal): Promise<void> {
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const npm = spawn('npm', ['install', ...options], { cwd, stdio: ['ignore', 'ignore', 'inherit'], signal });
  const code = await new Promise<number | null>((resolve, reject) =>
    npm.once('error', reject).once('close', resolve),
  );
  if (code !== 0) throw new Error(`npm install ended with exit code ${code}: see above`);
}

async function replace(folder: string, name: string, text: string): Promise<void> {
  const place = join(folder, 'node_modules', name);
  await rm(place, { recursive: true, force: true });
  await mkdir(place);
  await writeFile(join(place, 'package.json'), JSON.stringify({ name, version: '99.0.0', main: 'index.js' }));
  await writeFile(join(place, 'index.js'), text);
}
