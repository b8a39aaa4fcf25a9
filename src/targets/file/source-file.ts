import { createHash } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { lstat, open, readlink, realpath, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { LeadsyncError } from '../../errors.ts';
import { hasCode, readFault } from './file-fault.ts';
import type { RandomAccess } from '../xlsx/zip-directory.ts';

const chunkBytes = 64 * 1024;

/** An open file; reads continue in the same file even after its name moves to another. */
export interface SourceFile extends AsyncDisposable {
  /** As it was opened. */
  readonly stat: BigIntStats;
  /** The file descriptor, for threads. Valid until disposal. */
  readonly fd: number;
  /** At most `length` bytes. */
  head(length: number): Promise<Buffer>;
  /** Bytes from any position; fewer at the end. */
  read(position: number, length: number): Promise<Buffer>;
  /** All bytes, in chunks small enough to keep the event loop free. */
  chunks(signal: AbortSignal): AsyncGenerator<Buffer>;
  /** Whether the name still leads to this file, unchanged since it was opened. */
  isCurrent(): Promise<boolean>;
}

/**
 * Opens a file for reading; null when missing. @throws LeadsyncError `target.unreadable` when it is no regular file or
 * not readable.
 */
export async function openSource(path: string): Promise<SourceFile | null> {
  // Without NONBLOCK a named pipe would block.
  const handle = await unlessMissing(path, open(path, constants.O_RDONLY | constants.O_NONBLOCK));
  if (handle === null) return null;
  const opened = await handle.stat({ bigint: true });
  if (opened.isFile()) return sourceFile(path, handle, opened);
  await handle.close();
  const what = opened.isDirectory() ? 'a folder' : 'not a regular file';
  throw new LeadsyncError('target.unreadable', `${path} is ${what}.`, {
    help: 'Correct the path of the target.',
  });
}

function sourceFile(path: string, handle: FileHandle, opened: BigIntStats): SourceFile {
  const read = async (position: number, length: number) => {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, position);
    return buffer.subarray(0, bytesRead);
  };
  return {
    stat: opened,
    fd: handle.fd,
    head: (length) => read(0, length),
    read,
    async *chunks(signal) {
      for (let position = 0; ; ) {
        signal.throwIfAborted();
        const chunk = await read(position, chunkBytes);
        if (chunk.length === 0) return;
        position += chunk.length;
        yield chunk;
      }
    },
    async isCurrent() {
      const now = await unlessMissing(path, stat(path, { bigint: true }));
      return now !== null && versionOf(now) === versionOf(opened);
    },
    async [Symbol.asyncDispose]() {
      await handle.close();
    },
  };
}

/** Random reads; each checks the signal first. */
export function watchedAccess(file: SourceFile, signal: AbortSignal): RandomAccess {
  return {
    size: Number(file.stat.size),
    async read(position, length) {
      signal.throwIfAborted();
      return file.read(position, length);
    },
  };
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

/** Null when there is no such file. */
async function unlessMissing<T>(path: string, work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw readFault(error, path);
  }
}

/** SHA-256 of a file and of `more`, in hex. */
export async function digestOf(file: SourceFile, more: string, signal: AbortSignal): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of file.chunks(signal)) digest.update(chunk);
  return digest.update(more).digest('hex');
}

/** Whether a file seemed broken only because somebody wrote to it meanwhile. */
export async function isOfHalfWritten(error: unknown, file: SourceFile): Promise<boolean> {
  return error instanceof LeadsyncError && error.code !== 'target.busy' && !(await file.isCurrent());
}
