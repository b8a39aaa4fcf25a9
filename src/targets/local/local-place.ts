import { constants } from 'node:fs';
import { access, open, readdir, stat } from 'node:fs/promises';
import { dirname, basename, join, extname } from 'node:path';
import { LeadsyncError } from '../../lib/errors.ts';
import type { FileLocation, FilePlace, FileWriter, SourceFile } from '../file/file-place.ts';
import { editorLocks, openInEditor } from '../file/editor-locks.ts';
import { hasCode, readFault } from '../file/file-fault.ts';
import { lockFile } from './file-lock.ts';
import {
  followLinks,
  openSource,
  statOf,
  versionOf,
  assertReplaceable,
  removeLeftovers,
  replaceFile,
  whyReadOnly,
} from './local-file.ts';

/** A file on this machine, or on a share. @param path absolute; a symbolic link stays one */
export function localPlace(path: string): FilePlace {
  return {
    name: path,
    isUploaded: false,
    locate: async () => locationOf(await followLinks(path), path),
    formerly: (id) => (id.startsWith(kind) ? localPlace(id.slice(kind.length)) : null),
  };
}

const kind = 'file:';

/** `path`: without symbolic links; `name`: as configured. */
function locationOf(path: string, name: string): FileLocation {
  const assertNotOpen = async (): Promise<void> => {
    await assertNotOpenInEditor(name);
    if (path !== name) await assertNotOpenInEditor(path);
  };
  return {
    // One spelling for macOS and Linux.
    id: kind + path.normalize('NFC'),
    async look() {
      const stat = await statOf(path);
      return stat === null ? null : { version: versionOf(stat), size: Number(stat.size), contentTag: null };
    },
    conflictCopies: () => conflictCopiesOf(path),
    open: (signal) => openSource(path, signal),
    assertNotOpen,
    whyReadOnly: () => whyReadOnly(path),
    assertWritable: () => assertWritable(path),
    startWriting: () => startWriting(path, assertNotOpen),
  };
}

async function assertWritable(path: string): Promise<string> {
  await access(dirname(path), constants.W_OK).catch((cause: unknown) => {
    const message = `the folder of ${path} is missing or cannot be written`;
    throw new LeadsyncError('target.not-writable', message, { cause });
  });
  if ((await statOf(path)) !== null) await assertReplaceable(path);
  return '';
}

async function startWriting(path: string, assertNotOpen: () => Promise<void>): Promise<FileWriter> {
  const lock = await lockFile(path);
  try {
    await removeLeftovers(path);
  } catch (error) {
    await lock[Symbol.asyncDispose]();
    throw error;
  }
  const isStill = async (original: SourceFile | null): Promise<boolean> => {
    await assertNotOpen();
    await lock.assertHeld();
    return original === null ? (await statOf(path)) === null : original.isCurrent();
  };
  return {
    async replace(original, content, signal) {
      const mayReplace = (): Promise<boolean> => {
        signal.throwIfAborted();
        return isStill(original);
      };
      const replaced = await replaceFile(path, original, content, mayReplace);
      if (replaced === null) return null;
      const { left } = replaced;
      return { left: left === null ? null : { version: versionOf(left), size: Number(left.size) } };
    },
    [Symbol.asyncDispose]: () => lock[Symbol.asyncDispose](),
  };
}

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

/** "Conflict" in the languages of Dropbox, and of those that translate it as Nextcloud's pages do. */
const conflict = /confli[ct]t?|konflik|конфл[иі]кт|競合|冲突|衝突|충돌|çakış|ütköz|ขัดแย้ง/iu;
/** Names that Windows and its makers give, and those of Macs. */
const madeName = /^(?:DESKTOP|LAPTOP|WIN|SURFACE)-|macbook|\bimac|mac[ -]?(?:mini|studio|pro)\b/i;

/**
 * The name that a program which syncs files gives to the other of two versions: Syncthing `leads.sync-conflict-20260101-120000-ABCDEFG.csv`,
 * Dropbox `leads (Anna's conflicted copy 2026-01-01).csv` in the user's language, Nextcloud and ownCloud
 * `leads (conflicted copy 2026-01-01 120000).csv` and `leads_conflict-20260101-120000.csv`, OneDrive `leads-COMPUTERNAME.csv`.
 * `leads (1).csv` is mostly a second download.
 */
export function isConflictCopy(name: string, file: string): boolean {
  const [one, other] = [name.normalize('NFC'), file.normalize('NFC')];
  const ending = extname(other);
  const stem = basename(other, ending);
  if (extname(one).toLowerCase() !== ending.toLowerCase() || !one.startsWith(stem)) return false;
  const added = one.slice(stem.length, one.length - ending.length);
  if (/^[\s._~([{-]/.test(added) && conflict.test(added)) return /[\d([{]/.test(added);
  return added.startsWith('-') && isComputerName(added.slice(1), stem);
}

/** By NetBIOS a name of a computer has up to 15 characters; `leads-BERLIN` and `leads-OLD-2025` are people's. */
function isComputerName(text: string, stem: string): boolean {
  if (madeName.test(text)) return true;
  const name = text.replace(/-\d$/, '');
  if (!/^[A-Z0-9-]{4,15}$/.test(name) || stem === stem.toUpperCase()) return false;
  const letters = name.replace(/[^A-Z]/g, '').length;
  return letters >= 8 || (letters >= 4 && letters < name.length && !/(?:19|20)\d\d/.test(name));
}

async function conflictCopiesOf(path: string): ReturnType<NonNullable<FileLocation['conflictCopies']>> {
  const folder = dirname(path);
  const names = await readdir(folder).catch(() => []);
  const copies: { name: string; changedAt: number }[] = [];
  for (const name of names) {
    if (!isConflictCopy(name, basename(path))) continue;
    const found = await stat(join(folder, name)).catch(() => null);
    if (found?.isFile() === true) copies.push({ name, changedAt: Math.round(found.mtimeMs) });
  }
  return copies.toSorted((a, b) => b.changedAt - a.changedAt);
}
