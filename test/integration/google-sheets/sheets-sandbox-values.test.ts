import type { sheets_v4 } from '@googleapis/sheets';
import { expect, test } from 'vitest';
import { type SheetsSandbox, startSheetsSandbox } from '../../stand-ins/google-sheets/sheets-sandbox.ts';
import { cpuMs } from '../../support/cpu-ms.ts';
import { refusalOf, sheetsClient } from './sheets-sandbox-client.ts';

interface Scene extends AsyncDisposable {
  readonly sandbox: SheetsSandbox;
  readonly api: sheets_v4.Resource$Spreadsheets;
  readonly spreadsheetId: string;
  write(range: string, values: unknown[][], valueInputOption?: 'RAW' | 'USER_ENTERED'): Promise<unknown>;
  read(
    range: string,
    options?: Omit<sheets_v4.Params$Resource$Spreadsheets$Values$Batchget, 'ranges'>,
  ): Promise<unknown>;
}

async function begin(locale = 'en_US'): Promise<Scene> {
  const sandbox = await startSheetsSandbox({ tabs: ['Leads', "Jo's tab"], locale, quotas: null });
  const { spreadsheets: api } = sheetsClient(sandbox);
  const { spreadsheetId } = sandbox;
  return {
    sandbox,
    api,
    spreadsheetId,
    write: async (range, values, valueInputOption = 'RAW') =>
      api.values.batchUpdate({ spreadsheetId, requestBody: { valueInputOption, data: [{ range, values }] } }),
    read: async (range, options) => {
      const { data } = await api.values.batchGet({ spreadsheetId, ranges: [range], ...options });
      return data.valueRanges?.[0]?.values;
    },
    [Symbol.asyncDispose]: () => sandbox.close(),
  };
}

const unformatted = { valueRenderOption: 'UNFORMATTED_VALUE' } as const;
const asEntered = { valueRenderOption: 'FORMULA' } as const;

test('RAW takes texts as they are, null leaves a cell and an empty text clears it', async () => {
  await using scene = await begin();
  const texts = ['=1+2', '0042', '2026-11-20', "'x", '+49 170', 'TRUE'];
  await scene.write('Leads!A1:F1', [texts]);
  expect(await scene.read('Leads!A1:F1', unformatted)).toEqual([texts]);
  expect(await scene.read('Leads!A1:F1', asEntered)).toEqual([texts]);
  await scene.write('Leads!A1:C1', [[null, '', 7]]);
  expect(await scene.read('Leads!A1:C1', unformatted)).toEqual([['=1+2', '', 7]]);
});

test('USER_ENTERED parses as if typed', async () => {
  await using scene = await begin();
  const typed = [
    '0042',
    '1-2-2026',
    '2026-11-20',
    '=1/4+1',
    "'0042",
    'true',
    '12.5%',
    '1,234.5',
    '2026-11-20 06:00',
    '+49 170',
  ];
  await scene.write('Leads!A1:J1', [typed], 'USER_ENTERED');
  expect(await scene.read('Leads!A1:J1', unformatted)).toEqual([
    [42, 46024, 46346, 1.25, '0042', true, 0.125, 1234.5, 46346.25, '#ERROR!'],
  ]);
  expect(await scene.read('Leads!A1:J1')).toEqual([
    [
      '42',
      '1/2/2026',
      '2026-11-20',
      '1.25',
      '0042',
      'TRUE',
      '12.50%',
      '1234.5',
      '2026-11-20 06:00:00',
      '#ERROR!',
    ],
  ]);
  expect(await scene.read('Leads!D1', asEntered)).toEqual([['=1/4+1']]);
});

test("typed dates and numbers follow the spreadsheet's locale", async () => {
  await using scene = await begin('de_DE');
  await scene.write('Leads!A1:D1', [['3.4.2026', '1,5', '1.234,5', '3/4/2026']], 'USER_ENTERED');
  expect(await scene.read('Leads!A1:D1', unformatted)).toEqual([[46115, 1.5, 1234.5, 46115]]);
  expect(await scene.read('Leads!A1:B1')).toEqual([['3.4.2026', '1,5']]);
});

test('dates are days since 1899-12-30, or texts in their format when asked for', async () => {
  await using scene = await begin();
  scene.sandbox.person.type('Leads', 0, 0, '1900-01-01');
  expect(await scene.read('Leads!A1', unformatted)).toEqual([[2]]);
  const asText = { ...unformatted, dateTimeRenderOption: 'FORMATTED_STRING' };
  expect(await scene.read('Leads!A1', asText)).toEqual([['1900-01-01']]);
  await scene.write('Leads!A1', [[46346]]);
  expect(await scene.read('Leads!A1')).toEqual([['2026-11-20']]);
});

test('formulas are worked out from other cells and tabs, and show errors', async () => {
  await using scene = await begin();
  await scene.write("'Jo''s tab'!B2", [[5]]);
  const formulas = [
    "='Jo''s tab'!B2*2",
    '=A1&" Leads"',
    '=1/0',
    '=SUM(A1:A2)',
    '="a"+1',
    '=C9',
    '=(1',
    '=H1',
    '=Nope!A1',
  ];
  await scene.write('Leads!A1:I1', [formulas], 'USER_ENTERED');
  expect(await scene.read('Leads!A1:I1', unformatted)).toEqual([
    [10, '10 Leads', '#DIV/0!', '#NAME?', '#VALUE!', '', '#ERROR!', '#REF!', '#REF!'],
  ]);
  expect(await scene.read('Leads!A1:I1', asEntered)).toEqual([formulas]);
});

test('rows are ragged, what is empty at the end is left out, and nothing at all has no values', async () => {
  await using scene = await begin();
  await scene.write('Leads!A1:C4', [['a', 'b', 'c'], [], ['d', '', ''], ['', '', '']]);
  expect(await scene.read('Leads')).toEqual([['a', 'b', 'c'], [], ['d']]);
  expect(await scene.read('Leads', { majorDimension: 'COLUMNS' })).toEqual([['a', '', 'd'], ['b'], ['c']]);
  const { data } = await scene.api.values.get({ spreadsheetId: scene.spreadsheetId, range: 'Leads!D:E' });
  expect(data).toEqual({ range: 'Leads!D1:E1000', majorDimension: 'ROWS' });
});

test('0 and FALSE are values', async () => {
  await using scene = await begin();
  await scene.write('Leads!A1:B1', [[0, false]]);
  expect(await scene.read('Leads!A1:C1', unformatted)).toEqual([[0, false]]);
  expect(await scene.read('Leads!A1:C1')).toEqual([['0', 'FALSE']]);
});

test('all ranges of a write are taken or none', async () => {
  await using scene = await begin();
  const write = scene.api.values.batchUpdate({
    spreadsheetId: scene.spreadsheetId,
    requestBody: {
      valueInputOption: 'RAW',
      data: [
        { range: 'Leads!A1', values: [['kept out']] },
        { range: 'Leads!A1001', values: [['beyond']] },
      ],
    },
  });
  expect(await refusalOf(write)).toBe(
    '400 Invalid data[1]: Range (Leads!A1001) exceeds grid limits. Max rows: 1000, max columns: 26',
  );
  expect(await scene.read('Leads')).toBeUndefined();
});

test('what does not fit is refused in the words of Google', async () => {
  await using scene = await begin();
  const { spreadsheetId } = scene;
  expect(await refusalOf(scene.read('Gone!A1'))).toBe('400 Unable to parse range: Gone!A1');
  expect(await refusalOf(scene.read('Leads!A2000:C'))).toMatch(/exceeds grid limits/);
  expect(await refusalOf(scene.write('Leads!A1:B1', [['a', 'b', 'c']]))).toBe(
    '400 Invalid data[0]: Requested writing within range [Leads!A1:B1], but tried writing to column [3]',
  );
  expect(await refusalOf(scene.write('Leads!A1', [['x'.repeat(50_001)]]))).toMatch(
    /^400 .*maximum of 50000 characters/,
  );
  await scene.write('Leads!A1', [['x'.repeat(50_000)]]);
  const rows = Array.from({ length: 221 }, () => ['x'.repeat(50_000)]);
  expect(await refusalOf(scene.write('Leads!A1:A221', rows))).toBe(
    '400 Request payload size exceeds the limit: 10485760 bytes.',
  );
  const unknown = scene.api.values.batchUpdate({ spreadsheetId, requestBody: { data: [] } });
  expect(await refusalOf(unknown)).toBe("400 'valueInputOption' is required but not specified");
});

test('a write counts what it changed and shows it when asked to', async () => {
  await using scene = await begin();
  const { data } = await scene.api.values.batchUpdate({
    spreadsheetId: scene.spreadsheetId,
    requestBody: {
      valueInputOption: 'RAW',
      includeValuesInResponse: true,
      data: [{ range: 'Leads!B2:C3', values: [['a', null], ['b']] }],
    },
  });
  expect(data).toEqual({
    spreadsheetId: scene.spreadsheetId,
    totalUpdatedRows: 2,
    totalUpdatedColumns: 2,
    totalUpdatedCells: 2,
    totalUpdatedSheets: 1,
    responses: [
      {
        spreadsheetId: scene.spreadsheetId,
        updatedRange: 'Leads!B2:C3',
        updatedRows: 2,
        updatedColumns: 2,
        updatedCells: 2,
        updatedData: { range: 'Leads!B2:C3', majorDimension: 'ROWS', values: [['a'], ['b']] },
      },
    ],
  });
});

test('clearing takes values and leaves formats', async () => {
  await using scene = await begin();
  scene.sandbox.person.type('Leads', 0, 0, '2026-11-20');
  await scene.api.values.batchClear({
    spreadsheetId: scene.spreadsheetId,
    requestBody: { ranges: ['Leads!A:A'] },
  });
  expect(await scene.read('Leads')).toBeUndefined();
  await scene.write('Leads!A1', [[46346]]);
  expect(await scene.read('Leads!A1')).toEqual([['2026-11-20']]);
});

test('100,000 rows are written, read and changed in a time to work with', async () => {
  await using scene = await begin();
  const rows = Array.from({ length: 100_000 }, (_, row) =>
    Array.from({ length: 8 }, (_, column) => `${row}/${column}`),
  );
  scene.sandbox.person.put('Leads', rows);
  expect(await scene.read('Leads')).toHaveLength(100_000);
  const data = Array.from({ length: 10_000 }, (_, index) => ({
    range: `Leads!C${index * 10 + 1}`,
    values: [['new']],
  }));
  const before = cpuMs();
  await scene.api.values.batchUpdate({
    spreadsheetId: scene.spreadsheetId,
    requestBody: { valueInputOption: 'RAW', data },
  });
  expect(cpuMs() - before).toBeLessThan(10_000);
  expect(scene.sandbox.person.grid('Leads')?.filter((row) => row[2] === 'new')).toHaveLength(10_000);
});
