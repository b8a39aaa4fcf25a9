import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { FileLocation } from '../file/file-place.ts';

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

export async function conflictCopiesOf(path: string): ReturnType<FileLocation['conflictCopies']> {
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
