import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, LeadsyncError } from '../errors.ts';

const enoughSpace = 64 * 1024 * 1024;
const unusable = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST']);

/** `database.not-writable`, `database.disk-full`, or else `database.not-started`: by the system's code and the disk's free space, never by a message's text. */
export async function folderFault(folder: string, cause: unknown): Promise<LeadsyncError> {
  const code = codeOf(cause);
  if (code !== null && unusable.has(code)) {
    return new LeadsyncError(
      'database.not-writable',
      `The database cannot be kept under ${folder}: ${code}.`,
      {
        help: 'Set DATA_DIR to a folder that this user owns and can write, or set DATABASE_URL to a Postgres of your own.',
        cause,
      },
    );
  }
  const space = await statfs(folder).catch(() => null);
  const free = space === null ? Number.POSITIVE_INFINITY : space.bavail * space.bsize;
  // A program that failed for want of space has removed its files by now, so that some space is free again.
  if (code === 'ENOSPC' || code === 'EDQUOT' || free < enoughSpace) {
    return new LeadsyncError(
      'database.disk-full',
      `There is not enough disk space for the database under ${folder}.`,
      {
        retry: 'later',
        help: 'Free at least 100 MB there, or set DATA_DIR to a folder on another disk.',
        cause,
      },
    );
  }
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new LeadsyncError(
    'database.not-started',
    `The database under ${folder} could not be started: ${detail}`,
    {
      retry: 'later',
      help: `See ${join(folder, 'postgres', 'server.log')}, or set DATABASE_URL to a Postgres of your own.`,
      cause,
    },
  );
}
