import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const supported = 'supported: a path ending in .csv';

/** What is wrong with the target's path, or null. */
export function targetPathMistake(path: string): string | null {
  if (path.includes('\0')) return 'must not contain a NUL character';
  if (/^(google-sheets|hubspot):/i.test(path) || /\.xlsx$/i.test(path)) {
    return `is not supported yet by this version; ${supported}`;
  }
  return /[^/\\]\.csv$/i.test(path) ? null : `is no target of a known kind; ${supported}`;
}

/** One name for one file, however it is reached; for a file that is not there yet, as far as its folder is. */
export function realTargetPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    try {
      return join(realpathSync(dirname(path)), basename(path));
    } catch {
      return path;
    }
  }
}
