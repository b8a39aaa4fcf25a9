import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'node_modules/.cache/leadsync-cli');

/** The command as it is in the npm package: a start of the sources costs twice the processor's time, and tests start it often. */
export const bundledBin = join(folder, 'bin/leadsync.js');

/** vitest's globalSetup: makes `bundledBin` anew when something of it has changed since. */
export default async function bundleCli(): Promise<void> {
  const stamp = join(folder, 'made');
  const madeAt = await stat(stamp).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
  const begunAt = new Date();
  if ((await lastChange()) < madeAt) return;
  await mkdir(join(folder, 'bin'), { recursive: true });
  for (const file of ['bin/leadsync.js', 'package.json'])
    await copyFile(join(root, file), join(folder, file));
  const bundle = join(root, 'build/bundle.ts');
  await promisify(execFile)(process.execPath, [bundle, join(folder, 'dist')]);
  await writeFile(stamp, begunAt.toISOString());
}

/** When a file that the command is made of was last changed (epoch ms). */
async function lastChange(): Promise<number> {
  const inFolders = ['src', 'jobs', 'build', 'bin'].map(async (name) => {
    const entries = await readdir(join(root, name), { recursive: true, withFileTypes: true });
    return entries.map((entry) => join(entry.parentPath, entry.name));
  });
  // A folder changes when a file in it is removed.
  const paths = [...(await Promise.all(inFolders)).flat(), join(root, 'package-lock.json')];
  const times = await Promise.all(paths.map(async (path) => (await stat(path)).mtimeMs));
  return Math.max(...times);
}
