import { LeadsyncError } from '../../lib/errors.ts';
import type { sheets_v4 } from '@googleapis/sheets';
import type { SheetsTab } from './sheets-api.ts';

export function isRefused(error: unknown): boolean {
  return error instanceof LeadsyncError && error.code === 'target.refused';
}

export function changed(name: string, cause?: unknown): LeadsyncError {
  return new LeadsyncError(
    'target.changed',
    `Somebody moved rows, columns or the whole tab of ${name} while it was read. Nothing was written.`,
    { retry: 'now', cause },
  );
}

export function trashedFault(name: string): LeadsyncError {
  return new LeadsyncError('target.trashed', `${name} is in the trash. Nothing was read or written.`, {
    help: 'Take it out of the trash in Google Drive, or set the id of another spreadsheet.',
  });
}

/** `original`: the spreadsheet that the tab's records name. */
export function copiedFault(name: string, original: string): LeadsyncError {
  return new LeadsyncError(
    'target.copied',
    `${name} is a copy of a spreadsheet that leadsync syncs (${original}). Nothing was read or written.`,
    { help: 'To sync the copy from now on, run leadsync check --fix. Otherwise set the id of the original.' },
  );
}

export function renamedFault(name: string, tab: string, title: string): LeadsyncError {
  const now = JSON.stringify(title);
  return new LeadsyncError(
    'target.tab-renamed',
    `${name} has no tab ${JSON.stringify(tab)} any more; its content is in the tab ${now}. Nothing was read or written.`,
    { help: `Rename it back, or set ${now} as the tab in the configuration.` },
  );
}

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
