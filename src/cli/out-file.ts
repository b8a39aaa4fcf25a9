import { randomUUID } from 'node:crypto';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf, LeadsyncError } from '../lib/errors.ts';

/** Throws `usage.plan-out` unless a file can be created or replaced there. Called before long work. */
export function assertCanWrite(path: string, kept = 'the plan', option = '--out'): void {
  const refuse = (why: string, cause?: unknown): LeadsyncError =>
    new LeadsyncError('usage.plan-out', `${kept} cannot be kept: ${why}. Nothing was done`, {
      help: `Name a file in an existing folder with ${option}.`,
      cause,
    });
  if (path === '') throw refuse(`${option} has no name`);
  const there = statSync(path, { throwIfNoEntry: false });
  if (there?.isDirectory()) throw refuse(`${path} is a folder`);
  if (there !== undefined && !there.isFile()) throw refuse(`${path} is not a regular file`);
  const folder = dirname(path);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw refuse(`the folder ${folder} does not exist`);
  const temporary = temporaryFor(path);
  try {
    writeFileSync(temporary, '', own);
    rmSync(temporary);
  } catch (cause) {
    throw refuse(`${folder} is not writable (${codeOf(cause) ?? String(cause)})`, cause);
  }
}

/** Atomically. Throws `plan.not-written`. */
export function replaceFile(path: string, text: string, kept?: string, option?: string): Promise<void> {
  return replaceFileWith(path, (temporary) => writeFile(temporary, text, own), kept, option);
}

/** `write` creates it, with the options `own`. Its LeadsyncErrors pass. */
export async function replaceFileWith(
  path: string,
  write: (temporary: string) => Promise<void>,
  kept = 'the plan',
  option = '--out',
): Promise<void> {
  const temporary = temporaryFor(path);
  try {
    await write(temporary);
    await rename(temporary, path);
  } catch (cause) {
    // Report the original error, not that of the cleanup.
    await rm(temporary, { force: true }).catch(() => {});
    if (cause instanceof LeadsyncError) throw cause;
    throw new LeadsyncError(
      'plan.not-written',
      `${kept} could not be written to ${path} (${codeOf(cause) ?? String(cause)}); an existing file is unchanged`,
      { help: `Make room on the disk, or name a file elsewhere with ${option}.`, cause },
    );
  }
}

/** Only the owner can read it: it contains customer data. Never writes into an existing file. */
export const own = { mode: 0o600, flag: 'wx' } as const;

function temporaryFor(path: string): string {
  return `${path}.${randomUUID()}.tmp`;
}
