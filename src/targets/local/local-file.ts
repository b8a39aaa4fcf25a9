import { randomBytes } from 'node:crypto';
import { constants, fstat, type BigIntStats } from 'node:fs';
import {
  access,
  open,
  readdir,
  rename,
  rm,
  stat,
  type FileHandle,
  lstat,
  readlink,
  realpath,
} from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { LeadsyncError } from '../../lib/errors.ts';
import { hasCode, writeFault, readFault } from '../file/file-fault.ts';
import { type SourceFile, sourceFile } from '../file/file-place.ts';

/**
 * Atomically: temporary file beside it, sync, rename, sync of the folder. A failure before keeps the old file, as does `mayReplace`,
 * asked just before the rename: null. Keeps the mode of `original`, its owner where allowed, not extended attributes. `left`: the
 * new file; null when somebody has changed it since. `path`: without symbolic links.
 */
export async function replaceFile(
  path: string,
  original: Pick<SourceFile, 'fd'> | null,
  content: AsyncIterable<Buffer>,
  mayReplace: () => Promise<boolean>,
): Promise<{ readonly left: BigIntStats | null } | null> {
  const temporary = join(dirname(path), `${temporaryPrefix(path)}${randomBytes(6).toString('hex')}`);
  try {
    if (original !== null) await assertReplaceable(path);
    const like = original === null ? null : await statOfOpen(original.fd, { bigint: true });
    const filled = await fill(temporary, like, content);
    if (!(await mayReplace())) {
      await rm(temporary, { force: true });
      return null;
    }
    await rename(temporary, path);
    // On most systems the rename sets the change time.
    const left = await stat(path, { bigint: true }).catch(() => null);
    await syncFolder(dirname(path));
    return { left: left !== null && sameContent(filled, left) ? left : null };
  } catch (error) {
    await rm(temporary, { force: true });
    throw writeFault(error, path);
  }
}

const statOfOpen = promisify(fstat);

/** A rename would replace even a read-only file, and part a file from its other names. Throws `target.not-writable`, `target.hard-linked`. */
export async function assertReplaceable(path: string): Promise<void> {
  await access(path, constants.W_OK).catch((error: unknown) => {
    throw writeFault(error, path);
  });
  const { mode, nlink } = await stat(path);
  // The super-user may write into it, but somebody took that right from everybody.
  if ((mode & 0o222) === 0)
    throw new LeadsyncError('target.not-writable', `${path} is read-only. The file is unchanged.`, {
      help: 'Give the user that runs leadsync write permission on the file.',
    });
  if (nlink > 1) {
    const others = nlink === 2 ? 'another name' : `${nlink - 1} other names`;
    const message = `${path} has ${others} (hard links). leadsync replaces a file as a whole, which would part them. The file is unchanged.`;
    throw new LeadsyncError('target.hard-linked', message, {
      help: `Make the others symbolic links to it, or give leadsync a file of its own: copy it, and put the copy in its place.`,
    });
  }
}

export async function whyReadOnly(path: string): Promise<string | null> {
  try {
    await assertReplaceable(path);
    await access(dirname(path), constants.W_OK);
    return null;
  } catch (error) {
    const fault = writeFault(error, path);
    return fault instanceof Error ? fault.message : null;
  }
}

/** Removes temporary files of killed runs. Only for the holder of the file's lock. */
export async function removeLeftovers(path: string): Promise<void> {
  const folder = dirname(path);
  try {
    for (const name of await readdir(folder)) {
      if (name.startsWith(temporaryPrefix(path))) await rm(join(folder, name), { force: true });
    }
  } catch (error) {
    throw writeFault(error, path);
  }
}

function temporaryPrefix(path: string): string {
  return `.${basename(path)}.leadsync-tmp-`;
}

async function fill(
  temporary: string,
  original: BigIntStats | null,
  content: AsyncIterable<Buffer>,
): Promise<BigIntStats> {
  // Private until it has the original's mode; a new one stays so, but for the group that shares its folder.
  const isShared = original === null && ((await stat(dirname(temporary))).mode & 0o020) !== 0;
  await using handle = await open(temporary, 'wx', isShared ? 0o660 : 0o600);
  await handle.writeFile(content);
  if (original !== null) {
    await keepOwner(handle, original);
    await handle.chmod(Number(original.mode) & 0o7777);
  }
  await handle.sync();
  return await handle.stat({ bigint: true });
}

async function keepOwner(handle: FileHandle, original: BigIntStats): Promise<void> {
  const current = await handle.stat({ bigint: true });
  if (current.uid === original.uid && current.gid === original.gid) return;
  try {
    await handle.chown(Number(original.uid), Number(original.gid));
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'EINVAL', 'ENOSYS')) throw error;
  }
}

async function syncFolder(folder: string): Promise<void> {
  try {
    await using handle = await open(folder, 'r');
    await handle.sync();
  } catch (error) {
    // Windows and some network shares cannot sync a folder.
    if (!hasCode(error, 'EPERM', 'EISDIR', 'EINVAL', 'EACCES', 'ENOTSUP')) throw error;
  }
}

/** Null when missing. Throws `target.unreadable` when it is no regular file or not readable. */
export async function openSource(path: string, signal: AbortSignal): Promise<SourceFile | null> {
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
  const isCurrent = async (): Promise<boolean> => {
    const now = await statOf(path);
    return now !== null && versionOf(now) === version;
  };
  const rest = { version, size: Number(opened.size), isCurrent, [Symbol.asyncDispose]: () => handle.close() };
  return sourceFile(handle, rest, signal);
}

export function statOf(path: string): Promise<BigIntStats | null> {
  return unlessMissing(path, stat(path, { bigint: true }));
}

/** Identifies a file and its content. The change time moves even when a tool resets the modification time. */
export function versionOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

/** Whether a file is unwritten by its size and modification time; it may have been renamed. */
function sameContent(a: BigIntStats, b: BigIntStats): boolean {
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
