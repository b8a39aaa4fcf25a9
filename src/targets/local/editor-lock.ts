import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { editorLocks, openInEditor } from '../file/editor-locks.ts';
import { hasCode, readFault } from '../file/file-fault.ts';

/** By the spreadsheet program's lock file. Throws `target.busy` (later), with the person's name if that file has it. */
export async function assertNotOpenInEditor(path: string): Promise<void> {
  for (const { nameFor, userOf } of editorLocks) {
    const lockFile = join(dirname(path), nameFor(basename(path)));
    const content = await contentOf(lockFile);
    if (content !== null) throw openInEditor(path, { lockFile, user: userOf(content) });
  }
}

/** The first bytes; empty when the lock file is unreadable (Excel locks it on Windows). */
async function contentOf(lockPath: string): Promise<Buffer | null> {
  try {
    // A named pipe would block.
    await using handle = await open(lockPath, constants.O_RDONLY | constants.O_NONBLOCK);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(1024), 0, 1024, 0);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    if (hasCode(error, 'EACCES', 'EPERM', 'EBUSY', 'EISDIR')) return Buffer.alloc(0);
    throw readFault(error, lockPath);
  }
}
