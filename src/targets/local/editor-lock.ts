import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { LeadsyncError } from '../../errors.ts';
import { hasCode, readFault } from '../file/file-fault.ts';

/**
 * Detects the lock file of a spreadsheet program that has the file open. @throws LeadsyncError `target.busy` (retry
 * later), with the person's name if the lock file has it.
 */
export async function assertNotOpenInEditor(path: string): Promise<void> {
  const [folder, name] = [dirname(path), basename(path)];
  await refuse(path, join(folder, `.~lock.${name}#`), libreOfficeUser);
  await refuse(path, join(folder, `~$${name}`), excelUser);
}

async function refuse(path: string, lockPath: string, userOf: (content: Buffer) => string): Promise<void> {
  const content = await contentOf(lockPath);
  if (content === null) return;
  const user = userOf(content)
    .replaceAll(/\p{Cc}/gu, '')
    .trim();
  const who = user === '' ? '' : ` (${user})`;
  const message = `${path} is open in a spreadsheet program${who}. Nothing was written.`;
  throw new LeadsyncError('target.busy', message, {
    retry: 'later',
    help: `Save and close it. If nobody has it open, the program crashed: delete ${lockPath}.`,
  });
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

/** `Full name,login,host,date,profile;`, the first part empty when the program has no name. */
function libreOfficeUser(content: Buffer): string {
  const [fullName = '', login = '', host = ''] = content.toString('utf8').split(',');
  const user = fullName.trim() === '' ? login : fullName;
  return host === '' ? user : `${user} on ${host}`;
}

/** One byte of length, then the name. */
function excelUser(content: Buffer): string {
  const length = content[0] ?? 0;
  return content.toString('latin1', 1, 1 + Math.min(length, 54));
}
