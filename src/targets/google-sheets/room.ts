import type { sheets_v4 } from '@googleapis/sheets';
import { LeadsyncError } from '../../errors.ts';
import type { SheetsApi } from './sheets-api.ts';
import { fullFault, isRefused } from './tab-faults.ts';

type Request = sheets_v4.Schema$Request;

/**
 * Tells whether a refused request was refused because there is no room: asks for the room alone, and gives it back in the
 * same request, which is done as a whole or not at all. Google tells its limit in words alone and has raised it twice, so
 * neither its words nor the number decide. Throws `target.full` with what Google said.
 */
export async function assertRoom(
  api: SheetsApi,
  name: string,
  what: string,
  room: readonly Request[],
  signal: AbortSignal,
): Promise<void> {
  try {
    await api.update(room, signal);
  } catch (error) {
    if (error instanceof LeadsyncError && isRefused(error)) throw fullFault(name, what, error);
    throw error;
  }
}

/** Rows are put in where new ones come, and taken out again: nobody else's are touched, wherever they are by now. */
export function roomForRows(sheetId: number, at: number, count: number, isFirst: boolean): Request[] {
  const range = { sheetId, dimension: 'ROWS', startIndex: at, endIndex: at + count };
  return [{ insertDimension: { range, inheritFromBefore: !isFirst } }, { deleteDimension: { range } }];
}

/** `sheetId`: any that no tab has. */
export function roomForTab(sheetId: number, rowCount: number, columnCount: number): Request[] {
  const properties = { sheetId, gridProperties: { rowCount, columnCount } };
  return [{ addSheet: { properties } }, { deleteSheet: { sheetId } }];
}
