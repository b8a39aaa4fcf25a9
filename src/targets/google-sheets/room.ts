import type { sheets_v4 } from '@googleapis/sheets';
import { LeadsyncError } from '../../lib/errors.ts';
import type { SheetsTab } from './sheets-api.ts';
import { isRefused } from './tab-faults.ts';

type Request = sheets_v4.Schema$Request;

/**
 * Whether it was refused for lack of space: asks for the space alone and frees it in the same atomic request. Google names its limit
 * only in words and has raised it twice, so neither words nor number decide. Throws `target.full` with Google's words.
 */
export async function assertRoom(
  { api, name }: SheetsTab,
  what: string,
  room: readonly Request[],
  signal: AbortSignal,
): Promise<void> {
  try {
    await api.update(room, signal);
  } catch (error) {
    if (!(error instanceof LeadsyncError) || !isRefused(error)) throw error;
    const message = `${name} has no room for ${what}; none of it was written. ${error.message}`;
    throw new LeadsyncError('target.full', message, {
      help: 'Delete empty rows and columns (empty cells count), in all tabs, or move old rows to another spreadsheet.',
      cause: error,
    });
  }
}

/** Inserts and deletes rows at the insertion point: no other rows are touched, wherever they are. */
export function roomForRows(sheetId: number, at: number, count: number, isFirst: boolean): Request[] {
  const range = { sheetId, dimension: 'ROWS', startIndex: at, endIndex: at + count };
  return [{ insertDimension: { range, inheritFromBefore: !isFirst } }, { deleteDimension: { range } }];
}

/** `sheetId`: any unused one. */
export function roomForTab(sheetId: number, rowCount: number, columnCount: number): Request[] {
  const properties = { sheetId, gridProperties: { rowCount, columnCount } };
  return [{ addSheet: { properties } }, { deleteSheet: { sheetId } }];
}
