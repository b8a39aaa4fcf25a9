import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultFields } from '../core/lead/mapping.ts';
import { type SheetsSandbox, startSheetsSandbox } from '../../test/stand-ins/google-sheets/sheets-sandbox.ts';
import type { DemoEdit, DemoTarget } from './demo-target.ts';

const tab = 'Leads';
const rowsShown = 4;

/** A spreadsheet on a local stand-in of Google Sheets with Google's quotas; the key of its account is in the folder. */
export async function googleSheetsTarget(folder: string): Promise<DemoTarget> {
  const sheets = await startSheetsSandbox({ timeZone: 'Europe/Berlin' });
  const keyFile = join(folder, 'service-account.json');
  await writeFile(keyFile, sheets.keyFile(), { mode: 0o600 });
  const grid = (): string[][] => sheets.person.grid(tab) ?? [];
  return {
    env: {
      TARGET: `google-sheets:${sheets.spreadsheetId}/${tab}`,
      GOOGLE_SHEETS_URL: sheets.url,
      GOOGLE_APPLICATION_CREDENTIALS: keyFile,
    },
    place: 'sheet',
    missing: `the spreadsheet has no tab "${tab}" yet`,
    filled: () => [
      `The sheet has a row for each lead; its dates are those of the spreadsheet, in Europe/Berlin:`,
      ...describeGrid(grid().slice(0, rowsShown)),
    ],
    edit(_app, edits) {
      for (const edit of edits) typeEdit(sheets, edit);
      return Promise.resolve();
    },
    ended: () => [
      'The sheet, as people see it; the new row has its id now:',
      ...describeGrid([...grid().slice(0, rowsShown), ...grid().slice(-1)]),
      '',
      describeRequests(sheets),
    ],
    result: () => ({ sheet: grid(), requests: countRequests(sheets) }),
    async [Symbol.asyncDispose]() {
      await sheets.close();
      // It opens nothing any more.
      await rm(keyFile, { force: true });
    },
  };
}

function typeEdit({ person }: SheetsSandbox, edit: DemoEdit): void {
  const grid = person.grid(tab) ?? [];
  const [headings = []] = grid;
  const known = grid.findIndex(([id]) => id === edit.leadId);
  const row = edit.leadId === null ? grid.length : known;
  if (row < 1) throw new Error('the sheet was not edited');
  const values = edit.leadId === null ? edit.values : { stage: edit.stage };
  for (const { field, column } of defaultFields) {
    const value = values[field];
    if (typeof value === 'string') person.type(tab, row, headings.indexOf(column), value);
  }
}

function describeGrid(rows: readonly (readonly string[])[]): string[] {
  const narrow = rows.map((row) => row.map((text) => (text.length > 22 ? `${text.slice(0, 21)}…` : text)));
  const widths = (narrow[0] ?? []).map((_, column) =>
    Math.max(...narrow.map((row) => (row[column] ?? '').length)),
  );
  return narrow.map((row) =>
    `  ${widths.map((width, column) => (row[column] ?? '').padEnd(width)).join(' | ')}`.trimEnd(),
  );
}

function countRequests({ requests }: SheetsSandbox) {
  const count = (wanted: string): number => requests.filter(({ kind }) => kind === wanted).length;
  return {
    read: count('read'),
    write: count('write'),
    token: count('token'),
    drive: count('drive'),
    overQuota: requests.filter(({ status }) => status === 429).length,
  };
}

function describeRequests(sheets: SheetsSandbox): string {
  const { read, write, token, drive, overQuota } = countRequests(sheets);
  return (
    `Requests to Sheets: ${read} reads and ${write} writes, of which Google allows 60 each a minute; ` +
    `${overQuota} were over that. ${token} for a token, ${drive} about the trash.`
  );
}
