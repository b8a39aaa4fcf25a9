import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const supported =
  'supported: a path ending in .xlsx, .xlsm or .csv, google-sheets:SPREADSHEET_ID/TAB, hubspot, or postgres-table:TABLE';

/** What is wrong with the target's path, or null. */
export function targetPathMistake(path: string): string | null {
  if (path.includes('\0')) return 'must not contain a NUL character';
  const ofOtherKind = /^(google-sheets|hubspot|postgres-table):/i.test(path);
  return !ofOtherKind && /[^/\\]\.(csv|xls[xm])$/i.test(path)
    ? null
    : `is no target of a known kind; ${supported}`;
}

/** Whether the path is that of an Excel workbook, which has sheets. */
export function isExcelPath(path: string): boolean {
  return /\.xls[xm]$/i.test(path);
}

/** What is wrong with the name of a sheet, or null: what Excel takes. */
export function sheetNameMistake(name: string): string | null {
  return name.trim() !== '' && name.length <= 31 && !/[[\]:*?/\\\p{Cc}]|^'|'$/u.test(name)
    ? null
    : "must be a name of 1 to 31 characters without [ ] : * ? / \\, not starting or ending with '";
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
