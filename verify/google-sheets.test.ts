import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { spreadsheet } from '../src/config/target-schema.ts';
import { systemClock } from '../src/ports/clock.ts';
import { openGoogleAccount } from '../src/targets/google-sheets/google-account.ts';
import { createGoogleSheetsTarget } from '../src/targets/google-sheets/google-sheets-target.ts';
import { SheetsApi } from '../src/targets/google-sheets/sheets-api.ts';
import { columnLetters } from '../src/targets/shared/cell-name.ts';
import { fromShown, toTyped, zone } from '../test/contract/google-sheets-harness.ts';
import { contractFields, never, type TargetHarness } from '../test/contract/target-harness.ts';
import { describeTarget } from '../test/contract/target.ts';
import { MemoryJournal } from '../test/support/memory-journal.ts';
import { asker, env, needed, said } from './ask.ts';

needed(
  'the path of a service account’s key, and the ID (or address) of a spreadsheet for tests that is shared with it',
  'GOOGLE_APPLICATION_CREDENTIALS',
  'VERIFY_SPREADSHEET',
);
const prefix = 'leadsync verify';
const spreadsheetId = spreadsheet.parse(env['VERIFY_SPREADSHEET']);
const apiUrl = `${env['GOOGLE_SHEETS_URL'] ?? 'https://sheets.googleapis.com'}/`.replace(/\/+$/, '/');
// The adapter and the person share the 60 requests of each kind that Google allows in a minute.
const share = Math.ceil(Number(env['VERIFY_PER_MINUTE'] ?? 50) / 2);
const account = openGoogleAccount(env['GOOGLE_APPLICATION_CREDENTIALS']);
const headers = async () => ({ authorization: `Bearer ${(await account.authorize(never())).token}` });
const origin = `${apiUrl}v4/spreadsheets/${spreadsheetId}`;
const ask = asker(origin, headers, 60_000 / share);
const perMinute = { read: share, write: share };
const api = { spreadsheetId, apiUrl, account, clock: systemClock, perMinute };

const update = async (...requests: readonly object[]) =>
  (await ask('POST', ':batchUpdate', { requests })).status;
const tabs = async () =>
  said<{ sheetId: number; title: string }>(
    (await ask('GET', '?fields=sheets(properties(sheetId,title))')).body,
    'properties',
  );
const idOf = async (tab: string) => (await tabs()).find(({ title }) => title === tab)?.sheetId;
const addTab = (title: string, rowCount: number) =>
  update({ addSheet: { properties: { title, gridProperties: { rowCount, columnCount: 20 } } } });

/** Also those of a run that was broken off. */
async function removeTabs(): Promise<void> {
  const own = (await tabs()).filter(({ title }) => title.startsWith(prefix));
  if (own.length > 0) await update(...own.map(({ sheetId }) => ({ deleteSheet: { sheetId } })));
}
beforeAll(async () => {
  await removeTabs();
  const properties = { timeZone: zone, locale: 'en_US' };
  await update({ updateSpreadsheetProperties: { properties, fields: 'timeZone,locale' } });
});
afterAll(removeTabs);

type Given = readonly (readonly (string | null)[])[];
const type = async (tab: string, from: string, values: Given, valueInputOption = 'RAW') =>
  (
    await ask('POST', '/values:batchUpdate', {
      valueInputOption,
      data: [{ range: `'${tab}'!${from}`, values }],
    })
  ).status;
const rangeOf = (tab: string, range: string) => `ranges=${encodeURIComponent(`'${tab}'!${range}`)}`;
const valuesOf = async (tab: string, range: string, options = '') =>
  said<string[][]>(
    (await ask('GET', `/values:batchGet?${rangeOf(tab, range)}${options}`)).body,
    'values',
  )[0] ?? [];
/** Rows and columns count from 0, ends are left out. */
const areaOf =
  (sheetId: number) =>
  (startRowIndex: number, endRowIndex: number, startColumnIndex = 0, endColumnIndex = 1) => ({
    sheetId,
    startRowIndex,
    endRowIndex,
    startColumnIndex,
    endColumnIndex,
  });

async function liveTab(): Promise<TargetHarness> {
  const tab = `${prefix} ${randomUUID()}`;
  const journal = new MemoryJournal();
  const show = async () => {
    if ((await idOf(tab)) === undefined) return null;
    const rows = await valuesOf(tab, 'A1:T');
    const width = Math.max(0, ...rows.map((row) => row.length));
    return rows.map((row) => Array.from({ length: width }, (_, column) => fromShown(row[column] ?? '')));
  };
  return {
    target: (options) =>
      createGoogleSheetsTarget({
        ...api,
        tab,
        journal,
        fields: contractFields,
        idColumn: 'Lead ID',
        connection: tab,
        ...options,
      }),
    show,
    async edit(change) {
      const before = await show();
      const rows = change(before ?? []);
      if (before === null) await addTab(tab, 60);
      const due = (rows[0] ?? []).findIndex((heading) => heading.toLowerCase() === 'next follow-up');
      await ask('POST', '/values:batchClear', { ranges: [`'${tab}'!A1:T`] });
      await type(tab, 'A1', rows);
      if (due < 0) return;
      const numberFormat = { type: 'DATE_TIME', pattern: 'yyyy-mm-dd hh:mm:ss' };
      const range = areaOf((await idOf(tab)) ?? 0)(1, 60, due, due + 1);
      const cell = { userEnteredFormat: { numberFormat } };
      await update({ repeatCell: { range, cell, fields: 'userEnteredFormat.numberFormat' } });
      const moments = rows.map((row) => [toTyped(row[due] ?? '')]);
      await type(tab, `${columnLetters(due)}1`, moments, 'USER_ENTERED');
    },
    async [Symbol.asyncDispose]() {
      const sheetId = await idOf(tab);
      if (sheetId !== undefined) await update({ deleteSheet: { sheetId } });
    },
  };
}
describeTarget('google sheets', liveTab);

/** A tab with these texts as a person types them. */
async function typed(rows: Given, rowCount = 60) {
  const tab = `${prefix} ${randomUUID()}`;
  await addTab(tab, rowCount);
  await type(tab, 'A1', rows, 'USER_ENTERED');
  const sheetId = (await idOf(tab)) ?? 0;
  const span = (dimension: 'ROWS' | 'COLUMNS', startIndex: number, endIndex: number) => ({
    sheetId,
    dimension,
    startIndex,
    endIndex,
  });
  /** What is said of the tab under a key. */
  const told = async (range: string, mask: string, key: string) => {
    const where = range === '' ? '' : `${rangeOf(tab, range)}&`;
    const { body } = await ask('GET', `?${where}fields=sheets(properties(sheetId),${mask})`);
    const sheets = said<readonly object[]>(body, 'sheets').flat();
    return said(
      sheets.find((sheet) => said(sheet, 'sheetId')[0] === sheetId),
      key,
    );
  };
  const show = (range: string, options?: string) => valuesOf(tab, range, options);
  return { tab, sheetId, area: areaOf(sheetId), span, told, show };
}

const record = (metadataValue: string, location: object) => ({
  createDeveloperMetadata: {
    developerMetadata: { metadataKey: 'leadsync.verify', metadataValue, location, visibility: 'DOCUMENT' },
  },
});

describe('Google Sheets: what the contract cannot ask', () => {
  test('two rows tell of protected ranges further down; all merges are told without a range', async () => {
    const { area, told } = await typed([['a']]);
    await update(
      { addProtectedRange: { protectedRange: { range: area(10, 11) } } },
      { mergeCells: { range: area(20, 22), mergeType: 'MERGE_ALL' } },
    );
    expect(await told('1:2', 'protectedRanges', 'requestingUserCanEdit')).toEqual([true]);
    expect(await told('', 'merges', 'startRowIndex')).toEqual([20]);
  });

  test('a value for a cell that a merge covers is taken and kept nowhere', async () => {
    const { tab, area, show } = await typed([['a'], ['b']]);
    await update({ mergeCells: { range: area(0, 2), mergeType: 'MERGE_ALL' } });
    expect(await show('A1:A2')).toEqual([['a']]);
    expect([await type(tab, 'A2', [['c']]), await show('A1:A2')]).toEqual([200, [['a']]]);
  });

  test('an error is told from a text that reads like one; a formula from a text that begins with =', async () => {
    const { tab, told, show } = await typed([['x', '#REF!', '=1+2']]);
    await type(tab, 'A1', [['#REF!', null, null, '=1+2']]);
    const values = await told('A1:B1', 'data(rowData(values(effectiveValue)))', 'effectiveValue');
    expect(values).toMatchObject([{ stringValue: '#REF!' }, { errorValue: { type: 'REF' } }]);
    expect(await show('C1:D1', '&valueRenderOption=FORMULA')).toEqual([['=1+2', '=1+2']]);
    expect(await show('C1:D1', '&valueRenderOption=UNFORMATTED_VALUE')).toEqual([[3, '=1+2']]);
  });

  test('rows that are put in and taken out in one request leave no trace; at the end of the grid they inherit', async () => {
    const { span, area, told, show } = await typed([['a'], ['2026-07-01 09:30']], 5);
    const insert = (from: number, to: number, inheritFromBefore: boolean) => ({
      insertDimension: { range: span('ROWS', from, to), inheritFromBefore },
    });
    await update(insert(1, 3, true), { deleteDimension: { range: span('ROWS', 1, 3) } });
    expect(await show('A1:A1')).toEqual([['a']]);
    expect([await update(insert(5, 6, false)), await update(insert(5, 6, true))]).toEqual([400, 200]);
    const rows = [{ values: [{ userEnteredValue: { numberValue: 46_204.5 } }] }];
    const write = { updateCells: { range: area(2, 3), rows, fields: 'userEnteredValue' } };
    await update(insert(2, 3, true), write);
    const format = 'data(rowData(values(effectiveFormat(numberFormat(type)))))';
    expect(await told('A3', format, 'type')).toEqual(['DATE_TIME']);
  });

  test('records of a tab and its columns are told, and go with a column that is moved, not with a sort', async () => {
    const { sheetId, area, span, told, show } = await typed([
      ['a', 'b'],
      ['2', 'y'],
      ['1', 'x'],
    ]);
    const mask = 'data(columnMetadata(developerMetadata(metadataValue)))';
    const columnOfB = async () =>
      said<object[]>(await told('1:2', mask, 'data'), 'columnMetadata')
        .flat()
        .findIndex((column) => said(column, 'metadataValue').includes('b'));
    await update(record('tab', { sheetId }), record('b', { dimensionRange: span('COLUMNS', 1, 2) }));
    expect(await told('1:2', 'developerMetadata(metadataValue)', 'metadataValue')).toEqual(['tab']);
    const sortSpecs = [{ dimensionIndex: 0, sortOrder: 'ASCENDING' }];
    await update({ sortRange: { range: area(1, 3, 0, 2), sortSpecs } });
    expect(await columnOfB()).toBe(1);
    await update({ moveDimension: { source: span('COLUMNS', 1, 2), destinationIndex: 0 } });
    expect(await columnOfB()).toBe(0);
    expect(await show('A1:B3')).toEqual([
      ['b', 'a'],
      ['x', '1'],
      ['y', '2'],
    ]);
  });

  test('a write of which one range is refused changes nothing', async () => {
    const { tab, area, show } = await typed([['stage'], ['new']], 5);
    const data = ['A1', 'A9'].map((cell) => ({ range: `'${tab}'!${cell}`, values: [['other']] }));
    expect((await ask('POST', '/values:batchUpdate', { valueInputOption: 'RAW', data })).status).toBe(400);
    expect(await type(tab, 'B1', [['x'.repeat(50_001)]])).toBe(400);
    const condition = { type: 'ONE_OF_LIST', values: [{ userEnteredValue: 'new' }] };
    await update({ setDataValidation: { range: area(1, 5), rule: { condition, strict: true } } });
    expect(await type(tab, 'A2', [['lost']])).toBe(400);
    expect(await show('A1:B5')).toEqual([['stage'], ['new']]);
  });

  test('Drive tells whether the file lies in the trash, and whether the account may edit it', async () => {
    expect(await new SheetsApi(api).file(never())).toMatchObject({ trashed: false, canEdit: true });
  });

  const place = /^(.+)!([A-Z]+\d+)$/.exec(env['VERIFY_PROTECTED'] ?? '');
  test.skipIf(place === null)(
    'a cell that somebody else has protected (VERIFY_PROTECTED=TAB!A1) is refused with 400',
    async () => {
      const [, tab = '', cell = ''] = place ?? [];
      const [[before] = ['']] = await valuesOf(tab, cell, '&valueRenderOption=FORMULA');
      // What stands there already: nothing is lost should it be accepted.
      expect(await type(tab, cell, [[String(before)]])).toBe(400);
    },
  );

  test.skipIf(env['VERIFY_QUOTA'] === undefined)(
    'a read too many (VERIFY_QUOTA=1) is answered 429',
    async () => {
      const init = { headers: await headers() };
      for (let n = 0; n < 1_000; n++)
        if ((await fetch(`${origin}?fields=spreadsheetId`, init)).status === 429) return;
      expect.unreachable('1,000 reads were let through');
    },
  );
});
