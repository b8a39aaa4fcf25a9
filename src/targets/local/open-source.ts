import { type BigIntStats, constants } from 'node:fs';
import { lstat, open, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { LeadsyncError } from '../../lib/errors.ts';
import { hasCode, readFault } from '../file/file-fault.ts';
import { type SourceFile, sourceFile } from '../file/file-place.ts';

/** Null when missing. Throws `target.unreadable` when it is no regular file or not readable. */
export async function openSource(path: string): Promise<SourceFile | null> {
  // Without NONBLOCK a named pipe would block.
  const handle = await unlessMissing(path, open(path, constants.O_RDONLY | constants.O_NONBLOCK));
  if (handle === null) return null;
  await using refused = new AsyncDisposableStack();
  refused.use(handle);
  const opened = await handle.stat({ bigint: true });
  if (!opened.isFile()) {
    const what = opened.isDirectory() ? 'a folder' : 'not a regular file';
    throw new LeadsyncError('target.unreadable', `${path} is ${what}.`, {
      help: 'Correct the path of the target.',
    });
  }
  refused.move();
  const version = versionOf(opened);
  return sourceFile(handle, {
    version,
    size: Number(opened.size),
    async isCurrent() {
      const now = await statOf(path);
      return now !== null && versionOf(now) === version;
    },
    [Symbol.asyncDispose]: () => handle.close(),
  });
}

export function statOf(path: string): Promise<BigIntStats | null> {
  return unlessMissing(path, stat(path, { bigint: true }));
}

/** Identifies a file and its content. The change time moves even when a tool resets the modification time. */
export function versionOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

/** Whether a file is unwritten by its size and modification time; it may have been renamed. */
export function sameContent(a: BigIntStats, b: BigIntStats): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs;
}

/** Resolves symbolic links, even to a missing file: replacing the target must keep the link. */
export async function followLinks(path: string): Promise<string> {
  const real = await unlessMissing(path, realpath(path));
  if (real !== null) return real;
  const isLink = (await unlessMissing(path, lstat(path)))?.isSymbolicLink() === true;
  const link = isLink ? await unlessMissing(path, readlink(path)) : null;
  if (link !== null) return followLinks(resolve(dirname(path), link));
  const folder = await unlessMissing(path, realpath(dirname(path)));
  return folder === null ? path : join(folder, basename(path));
}

async function unlessMissing<T>(path: string, work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw readFault(error, path);
  }
}
