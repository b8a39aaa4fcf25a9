import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { spreadsheet } from '../src/config/target-schema.ts';
import { systemClock } from '../src/ports/clock.ts';
import { openGoogleAccount } from '../src/targets/google-sheets/google-account.ts';
import { createGoogleSheetsTarget } from '../src/targets/google-sheets/google-sheets-target.ts';
import { type GoogleSheetsOptions, SheetsApi } from '../src/targets/google-sheets/sheets-api.ts';
import { describeTarget } from '../test/contract/target.ts';
import {
  append,
  contractFields,
  never,
  readAll,
  type TargetHarness,
} from '../test/contract/target-harness.ts';
import { MemoryJournal } from '../test/support/memory-journal.ts';
import { asker, patient } from './ask.ts';

const { env } = process;
const prefix = 'leadsync verify';
const spreadsheetId = spreadsheet.parse(env['VERIFY_SPREADSHEET']);
const apiUrl = `${env['GOOGLE_SHEETS_URL'] ?? 'https://sheets.googleapis.com'}/`.replace(/\/+$/, '/');
// The adapter and the person share the 60 requests of each kind that Google allows in a minute.
const share = Math.ceil(Number(env['VERIFY_PER_MINUTE'] ?? 50) / 2);
const account = openGoogleAccount(env['GOOGLE_APPLICATION_CREDENTIALS']);
const headers = async () => ({ authorization: `Bearer ${(await account.authorize(never())).token}` });
const origin = `${apiUrl}v4/spreadsheets/${spreadsheetId}`;
const ask = asker(origin, headers, 60_000 / share);
const api = {
  spreadsheetId,
  apiUrl,
  account,
  clock: systemClock,
  readsPerMinute: share,
  writesPerMinute: share,
};

const places = z.object({
  sheets: z.array(z.object({ properties: z.object({ sheetId: z.number(), title: z.string() }) })),
});
const update = async (...requests: readonly object[]) =>
  (await ask('POST', ':batchUpdate', { requests })).status;
const listed = async () =>
  places
    .parse((await ask('GET', '?fields=sheets(properties(sheetId,title))')).body)
    .sheets.map((one) => one.properties);

/** Also those of a run that was broken off. */
async function removeTabs(): Promise<void> {
  const own = (await listed()).filter(({ title }) => title.startsWith(prefix));
  if (own.length > 0) await update(...own.map(({ sheetId }) => ({ deleteSheet: { sheetId } })));
}
beforeAll(removeTabs);
afterAll(removeTabs);

let tabs = 0;
const newTitle = () => `${prefix} ${Date.now()} ${++tabs}`;
const addTab = (title: string, rowCount = 60) =>
  update({ addSheet: { properties: { title, gridProperties: { rowCount, columnCount: 20 } } } });

type Given = readonly (readonly (string | null)[])[];
const type = async (tab: string, from: string, values: Given, valueInputOption = 'RAW') =>
  (
    await ask('POST', '/values:batchUpdate', {
      valueInputOption,
      data: [{ range: `'${tab}'!${from}`, values }],
    })
  ).status;

const ranges = z.object({
  valueRanges: z.array(
    z.object({ values: z.array(z.array(z.union([z.string(), z.number(), z.boolean()]))).default([]) }),
  ),
});
async function values(
  tab: string,
  range: string,
  options = '',
): Promise<(string | number | boolean)[][] | null> {
  const reply = await ask(
    'GET',
    `/values:batchGet?ranges=${encodeURIComponent(`'${tab}'!${range}`)}${options}`,
  );
  return reply.status === 400 ? null : (ranges.parse(reply.body).valueRanges[0]?.values ?? []);
}

async function liveSheet(): Promise<TargetHarness> {
  const tab = newTitle();
  const journal = new MemoryJournal();
  const show = async () => {
    const grid = await values(tab, 'A:Z');
    const width = grid?.[0]?.length ?? 0;
    return grid?.map((row) => Array.from({ length: width }, (_, n) => String(row[n] ?? ''))) ?? null;
  };
  return {
    show,
    target: (options: Partial<GoogleSheetsOptions> = {}) =>
      patient(
        createGoogleSheetsTarget({
          ...api,
          tab,
          fields: contractFields,
          idColumn: 'Lead ID',
          connection: tab,
          journal,
          ...options,
        }),
      ),
    edit: async (change) => {
      const before = await show();
      const grid = change(before ?? []);
      if (before === null) await addTab(tab);
      const all = [...grid, ...(before ?? [])];
      const length = Math.max(0, ...all.map((row) => row.length));
      const rows = Array.from({ length: Math.max(grid.length, before?.length ?? 0) }, (_, row) =>
        Array.from({ length }, (__, column) => grid[row]?.[column] ?? ''),
      );
      if (rows.length > 0) await type(tab, 'A1', rows);
    },
    async [Symbol.asyncDispose]() {},
  };
}

describeTarget('Google Sheets', liveSheet);

/** A tab with these texts as a person types them. Rows and columns of an area count from 0, its ends are left out. */
async function typed(rows: Given, rowCount = 60) {
  const tab = newTitle();
  await addTab(tab, rowCount);
  await type(tab, 'A1', rows, 'USER_ENTERED');
  const sheetId = (await listed()).find(({ title }) => title === tab)?.sheetId ?? 0;
  const area = (startRowIndex: number, endRowIndex: number, startColumnIndex = 0, endColumnIndex = 1) => ({
    sheetId,
    startRowIndex,
    endRowIndex,
    startColumnIndex,
    endColumnIndex,
  });
  const span = (dimension: 'ROWS' | 'COLUMNS', startIndex: number, endIndex: number) => ({
    sheetId,
    dimension,
    startIndex,
    endIndex,
  });
  const sheet = async (range: string, mask: string) => {
    const where = range === '' ? '' : `ranges=${encodeURIComponent(`'${tab}'!${range}`)}&`;
    const { body } = await ask('GET', `?${where}fields=sheets(properties(sheetId),${mask})`);
    const found = z
      .object({ sheets: z.array(z.looseObject({ properties: z.object({ sheetId: z.number() }) })) })
      .parse(body);
    return found.sheets.find(({ properties }) => properties.sheetId === sheetId);
  };
  return {
    tab,
    sheetId,
    area,
    span,
    sheet,
    show: (range: string, options?: string) => values(tab, range, options),
  };
}

const record = (metadataValue: string, location: object) => ({
  createDeveloperMetadata: {
    developerMetadata: { metadataKey: 'leadsync.verify', metadataValue, location, visibility: 'DOCUMENT' },
  },
});
const columnMetadata = 'data(columnMetadata(developerMetadata(metadataValue)))';
const noted = (value: string) => ({ developerMetadata: [{ metadataValue: value }] });

describe('Google Sheets: what the contract cannot ask', () => {
  test('two rows tell of protected ranges further down; all merges are told without a range', async () => {
    const { area, sheet } = await typed([['a']]);
    await update(
      { addProtectedRange: { protectedRange: { range: area(10, 11) } } },
      { mergeCells: { range: area(20, 22), mergeType: 'MERGE_ALL' } },
    );
    expect(await sheet('1:2', 'protectedRanges')).toMatchObject({
      protectedRanges: [{ requestingUserCanEdit: true }],
    });
    expect(await sheet('', 'merges')).toMatchObject({ merges: [{ startRowIndex: 20 }] });
  });

  test('a value for a cell that a merge covers is taken and kept nowhere', async () => {
    const { tab, area, show } = await typed([['a'], ['b']]);
    await update({ mergeCells: { range: area(0, 2), mergeType: 'MERGE_ALL' } });
    expect([await show('A1:A2'), await type(tab, 'A2', [['c']]), await show('A1:A2')]).toEqual([
      [['a']],
      200,
      [['a']],
    ]);
  });

  test('an error is told from a text that reads like one; a formula from a text that begins with =', async () => {
    const { tab, sheet, show } = await typed([['x', '#REF!', '=1+2']]);
    await type(tab, 'A1', [['#REF!', null, null, '=1+2']]);
    expect(await sheet('A1:B1', 'data(rowData(values(effectiveValue)))')).toMatchObject({
      data: [
        {
          rowData: [
            {
              values: [
                { effectiveValue: { stringValue: '#REF!' } },
                { effectiveValue: { errorValue: { type: 'REF' } } },
              ],
            },
          ],
        },
      ],
    });
    expect(await show('C1:D1', '&valueRenderOption=FORMULA')).toEqual([['=1+2', '=1+2']]);
    expect(await show('C1:D1', '&valueRenderOption=UNFORMATTED_VALUE')).toEqual([[3, '=1+2']]);
  });

  test('rows that are put in and taken out in one request leave no trace; at the end of the grid they inherit', async () => {
    const { span, area, sheet, show } = await typed([['a'], ['2026-07-01 09:30']], 5);
    const range = span('ROWS', 1, 3);
    await update({ insertDimension: { range, inheritFromBefore: true } }, { deleteDimension: { range } });
    expect(await show('A1:A1')).toEqual([['a']]);
    const last = { range: span('ROWS', 5, 6) };
    expect(await update({ insertDimension: { ...last, inheritFromBefore: false } })).toBe(400);
    expect(await update({ insertDimension: { ...last, inheritFromBefore: true } })).toBe(200);
    await update(
      { insertDimension: { range: span('ROWS', 2, 3), inheritFromBefore: true } },
      {
        updateCells: {
          range: area(2, 3),
          rows: [{ values: [{ userEnteredValue: { numberValue: 46_204.5 } }] }],
          fields: 'userEnteredValue',
        },
      },
    );
    expect(await sheet('A3', 'data(rowData(values(effectiveFormat(numberFormat(type)))))')).toMatchObject({
      data: [{ rowData: [{ values: [{ effectiveFormat: { numberFormat: { type: 'DATE_TIME' } } }] }] }],
    });
  });

  test('records of a tab and its columns are told, and go with a column that is moved, not with a sort', async () => {
    const { sheetId, area, span, sheet, show } = await typed([
      ['a', 'b'],
      ['2', 'y'],
      ['1', 'x'],
    ]);
    await update(record('tab', { sheetId }), record('b', { dimensionRange: span('COLUMNS', 1, 2) }));
    expect(await sheet('1:2', 'developerMetadata(metadataValue)')).toMatchObject(noted('tab'));
    await update({
      sortRange: { range: area(1, 3, 0, 2), sortSpecs: [{ dimensionIndex: 0, sortOrder: 'ASCENDING' }] },
    });
    expect(await sheet('1:2', columnMetadata)).toMatchObject({
      data: [{ columnMetadata: { 1: noted('b') } }],
    });
    await update({ moveDimension: { source: span('COLUMNS', 1, 2), destinationIndex: 0 } });
    expect(await sheet('1:2', columnMetadata)).toMatchObject({
      data: [{ columnMetadata: { 0: noted('b') } }],
    });
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

  test('moments as the spreadsheet’s dates are read back the same, around the changes of the clock', async () => {
    const tab = newTitle();
    const { timeZone } = z
      .object({ properties: z.object({ timeZone: z.string() }) })
      .parse((await ask('GET', '?fields=properties(timeZone)')).body).properties;
    const change = Temporal.Instant.from('2026-01-01T00:00:00Z')
      .toZonedDateTimeISO(timeZone)
      .getTimeZoneTransition('next');
    const at = change?.epochMilliseconds ?? Date.UTC(2026, 0, 1);
    const moments = [-90, -30, -1, 0, 30, 90, 259_200].map((minutes) =>
      new Date(at + minutes * 60_000).toISOString(),
    );
    const target = patient(
      createGoogleSheetsTarget({
        ...api,
        tab,
        fields: contractFields,
        idColumn: 'Lead ID',
        connection: tab,
        journal: new MemoryJournal(),
      }),
    );
    await target.open({ create: true }, never());
    await target.write(
      moments.map((due) => append(due, { name: due, due })),
      never(),
    );
    expect((await readAll(target)).map(({ cells }) => cells['due'])).toEqual(moments);
    const kinds = (await values(tab, 'D2:D', '&valueRenderOption=UNFORMATTED_VALUE'))
      ?.flat()
      .map((value) => typeof value);
    expect(kinds).toContain('number');
  });

  test('Drive tells whether the file lies in the trash, and whether the account may edit it', async () => {
    expect(await new SheetsApi(api).file(never())).toMatchObject({ trashed: false, canEdit: true });
  });

  const place = /^(.+)!([A-Z]+\d+)$/.exec(env['VERIFY_PROTECTED'] ?? '');
  test.skipIf(place === null)(
    'a cell that somebody else has protected (--protected TAB!A1) is refused with 400',
    async () => {
      const [, tab = '', cell = ''] = place ?? [];
      const [[before] = ['']] = (await values(tab, cell, '&valueRenderOption=FORMULA')) ?? [];
      // What stands there already: nothing is lost should it be accepted.
      expect(await type(tab, cell, [[String(before)]])).toBe(400);
    },
  );

  test.skipIf(env['VERIFY_QUOTA'] === undefined)('a read too many (--quota) is answered 429', async () => {
    const init = { headers: await headers() };
    for (let n = 0; n < 1_000; n++)
      if ((await fetch(`${origin}?fields=spreadsheetId`, init)).status === 429) return;
    expect.unreachable('1,000 reads were let through');
  });
});
