import type { sheets_v4 } from '@googleapis/sheets';
import { expect, test } from 'vitest';
import { type SheetsSandbox, startSheetsSandbox } from '../../src/sandbox/google-sheets/sheets-sandbox.ts';
import { errorBodyOf, refusalOf, sheetsClient } from './sheets-sandbox-client.ts';

interface Scene extends AsyncDisposable {
  readonly sandbox: SheetsSandbox;
  update(...requests: sheets_v4.Schema$Request[]): Promise<sheets_v4.Schema$Response[]>;
  get(fields?: string, ranges?: string[]): Promise<sheets_v4.Schema$Spreadsheet>;
  grid(): string[][] | null;
}

async function begin(grid: readonly (readonly string[])[] = []): Promise<Scene> {
  const sandbox = await startSheetsSandbox({ tabs: ['Leads'], quotas: null });
  sandbox.person.put('Leads', grid);
  const { spreadsheets: api } = sheetsClient(sandbox);
  const { spreadsheetId } = sandbox;
  return {
    sandbox,
    update: async (...requests) =>
      (await api.batchUpdate({ spreadsheetId, requestBody: { requests } })).data.replies ?? [],
    get: async (fields, ranges) =>
      (await api.get({ spreadsheetId, ...(fields && { fields }), ...(ranges && { ranges }) })).data,
    grid: () => sandbox.person.grid('Leads'),
    [Symbol.asyncDispose]: () => sandbox.close(),
  };
}

function text(stringValue: string): sheets_v4.Schema$CellData {
  return { userEnteredValue: { stringValue } };
}

function rows(startIndex: number, endIndex: number): sheets_v4.Schema$DimensionRange {
  return { sheetId: 0, dimension: 'ROWS', startIndex, endIndex };
}

function columns(startIndex: number, endIndex: number): sheets_v4.Schema$DimensionRange {
  return { sheetId: 0, dimension: 'COLUMNS', startIndex, endIndex };
}

function columnRecord(column: number, metadataKey: string): sheets_v4.Schema$Request {
  const location = { dimensionRange: columns(column, column + 1) };
  const developerMetadata = { metadataKey, metadataValue: 'v', visibility: 'DOCUMENT', location };
  return { createDeveloperMetadata: { developerMetadata } };
}

test('a tab is made, filled, formatted and marked in one go', async () => {
  await using scene = await begin();
  const replies = await scene.update(
    {
      addSheet: {
        properties: {
          sheetId: 42,
          title: 'New',
          gridProperties: { rowCount: 10, columnCount: 3, frozenRowCount: 1 },
        },
      },
    },
    {
      updateCells: {
        start: { sheetId: 42, rowIndex: 0, columnIndex: 0 },
        rows: [
          { values: [text('Id'), { ...text('Due'), userEnteredFormat: { textFormat: { bold: true } } }] },
        ],
        fields: 'userEnteredValue,userEnteredFormat.textFormat',
      },
    },
    {
      repeatCell: {
        range: { sheetId: 42, startRowIndex: 1, startColumnIndex: 1, endColumnIndex: 2 },
        cell: { userEnteredFormat: { numberFormat: { type: 'DATE_TIME' } } },
        fields: 'userEnteredFormat.numberFormat',
      },
    },
    {
      createDeveloperMetadata: {
        developerMetadata: { metadataKey: 'leadsync.tab', visibility: 'DOCUMENT', location: { sheetId: 42 } },
      },
    },
  );
  expect(replies[0]?.addSheet?.properties).toMatchObject({ sheetId: 42, index: 1, sheetType: 'GRID' });
  const { sheets } = await scene.get(
    'sheets(properties(title,gridProperties),developerMetadata(metadataKey),data.rowData.values(formattedValue,effectiveFormat(textFormat,numberFormat(type))))',
    ['New!1:2'],
  );
  expect(sheets).toEqual([
    {
      properties: { title: 'New', gridProperties: { rowCount: 10, columnCount: 3, frozenRowCount: 1 } },
      developerMetadata: [{ metadataKey: 'leadsync.tab' }],
      data: [
        {
          rowData: [
            {
              values: [
                { formattedValue: 'Id', effectiveFormat: {} },
                { formattedValue: 'Due', effectiveFormat: { textFormat: { bold: true } } },
              ],
            },
            { values: [{}, { effectiveFormat: { numberFormat: { type: 'DATE_TIME' } } }] },
          ],
        },
      ],
    },
  ]);
});

test('all requests are carried out or none', async () => {
  await using scene = await begin([['Id'], ['1']]);
  const before = await scene.get('*');
  const refused = scene.update(
    { insertDimension: { range: rows(1, 3) } },
    columnRecord(0, 'k'),
    { updateSheetProperties: { properties: { sheetId: 0, title: 'Other' }, fields: 'title' } },
    { deleteDimension: { range: rows(5000, 5001) } },
  );
  expect(await refusalOf(refused)).toMatch(/^400 Invalid requests\[3\]\.deleteDimension: /);
  expect(await scene.get('*')).toEqual(before);
});

test('records go with their columns and are found, changed and deleted', async () => {
  await using scene = await begin([['Id', 'Name', 'Due']]);
  await scene.update(columnRecord(1, 'name'), columnRecord(2, 'due'), {
    insertDimension: { range: columns(0, 1) },
  });
  scene.sandbox.person.moveColumn('Leads', 3, 0);
  scene.sandbox.person.insertColumns('Leads', 0);
  const { sheets } = await scene.get('sheets.data.columnMetadata.developerMetadata.metadataKey', [
    'Leads!A1:E1',
  ]);
  const keys = sheets?.[0]?.data?.[0]?.columnMetadata?.map((one) => one.developerMetadata?.[0]?.metadataKey);
  expect(keys).toEqual([undefined, 'due', undefined, undefined, 'name']);
  const dataFilter = { developerMetadataLookup: { metadataKey: 'due' } };
  const [updated] = await scene.update({
    updateDeveloperMetadata: {
      dataFilters: [dataFilter],
      developerMetadata: { metadataValue: 'new' },
      fields: 'metadataValue',
    },
  });
  expect(updated?.updateDeveloperMetadata?.developerMetadata).toMatchObject([
    {
      metadataKey: 'due',
      metadataValue: 'new',
      location: { locationType: 'COLUMN', dimensionRange: columns(1, 2) },
    },
  ]);
  scene.sandbox.person.deleteColumns('Leads', 4);
  await scene.update({ deleteDeveloperMetadata: { dataFilter } });
  expect(
    (await scene.get('sheets.data.columnMetadata.developerMetadata')).sheets?.[0]?.data?.[0]?.columnMetadata,
  ).toEqual(Array.from({ length: 27 }, () => ({})));
});

test('new rows push down what is below and look like the row above', async () => {
  await using scene = await begin([['Id', 'Due'], ['1', ''], ['note']]);
  scene.sandbox.person.type('Leads', 1, 1, '2026-11-20');
  await scene.update(
    { insertDimension: { range: rows(2, 3), inheritFromBefore: true } },
    {
      updateCells: {
        start: { sheetId: 0, rowIndex: 2, columnIndex: 0 },
        rows: [{ values: [text('2'), { userEnteredValue: { numberValue: 46347 } }] }],
        fields: 'userEnteredValue',
      },
    },
  );
  expect(scene.grid()).toEqual([
    ['Id', 'Due'],
    ['1', '2026-11-20'],
    ['2', '2026-11-21'],
    ['note', ''],
  ]);
});

test('rows go in at the end of the grid only after the row before, and at the top only before the row after', async () => {
  await using scene = await begin();
  expect(await refusalOf(scene.update({ insertDimension: { range: rows(1000, 1001) } }))).toMatch(
    /startIndex\[1000\]/,
  );
  await scene.update({ insertDimension: { range: rows(1000, 1001), inheritFromBefore: true } });
  const top = scene.update({ insertDimension: { range: rows(0, 1), inheritFromBefore: true } });
  expect(await refusalOf(top)).toMatch(/^400 /);
});

test('sorting moves what is in the range: numbers, texts, then what is empty', async () => {
  await using scene = await begin([
    ['Id', 'Name'],
    ['1', 'b'],
    ['2', ''],
    ['3', 'A'],
    ['4', ''],
  ]);
  scene.sandbox.person.type('Leads', 4, 1, '7');
  const range = { sheetId: 0, startRowIndex: 1, endRowIndex: 5, startColumnIndex: 1, endColumnIndex: 2 };
  await scene.update({ sortRange: { range, sortSpecs: [{ dimensionIndex: 1, sortOrder: 'ASCENDING' }] } });
  expect(scene.grid()).toEqual([
    ['Id', 'Name'],
    ['1', '7'],
    ['2', 'A'],
    ['3', 'b'],
    ['4', ''],
  ]);
  await scene.update({ sortRange: { range, sortSpecs: [{ dimensionIndex: 1, sortOrder: 'DESCENDING' }] } });
  expect(scene.grid()?.map((row) => row[1])).toEqual(['Name', 'b', 'A', '7', '']);
});

test('formulas follow the cells that they name', async () => {
  await using scene = await begin([['5', '', '']]);
  const { person } = scene.sandbox;
  person.type('Leads', 1, 1, '=$A$1*2');
  await scene.update(
    { insertDimension: { range: rows(0, 2) } },
    { insertDimension: { range: columns(0, 1) } },
  );
  const shown = await scene.get('sheets.data.rowData.values(userEnteredValue,formattedValue)', ['Leads!C4']);
  expect(shown.sheets?.[0]?.data?.[0]?.rowData).toEqual([
    { values: [{ userEnteredValue: { formulaValue: '=$B$3*2' }, formattedValue: '10' }] },
  ]);
  await scene.update({ deleteDimension: { range: rows(2, 3) } });
  expect(scene.grid()?.[2]?.[2]).toBe('#REF!');
});

test('a protected cell refuses the whole write; a warning does not', async () => {
  await using scene = await begin([
    ['Id', 'Name'],
    ['1', 'Ann'],
  ]);
  const { person, spreadsheetId } = scene.sandbox;
  person.protect('Leads', 'B2:B3');
  const words =
    'You are trying to edit a protected cell or object. Please contact the spreadsheet owner to remove protection if you need to edit.';
  const { values } = sheetsClient(scene.sandbox).spreadsheets;
  const write = async (data: sheets_v4.Schema$ValueRange[]): Promise<unknown> =>
    values.batchUpdate({ spreadsheetId, requestBody: { valueInputOption: 'RAW', data } });
  expect(
    await refusalOf(
      write([
        { range: 'Leads!A2', values: [['2']] },
        { range: 'Leads!A2:B2', values: [[null, 'Bob']] },
      ]),
    ),
  ).toBe(`400 Invalid data[1]: ${words}`);
  await write([{ range: 'Leads!A2:B2', values: [['2', null]] }]);
  expect(await refusalOf(scene.update({ deleteDimension: { range: rows(1, 2) } }))).toBe(
    `400 Invalid requests[0].deleteDimension: ${words}`,
  );
  await scene.update({ insertDimension: { range: rows(1, 2) } });
  const { sheets } = await scene.get('sheets.protectedRanges(range,requestingUserCanEdit)');
  expect(sheets?.[0]?.protectedRanges).toEqual([
    { range: { sheetId: 0, startRowIndex: 2, endRowIndex: 4, startColumnIndex: 1, endColumnIndex: 2 } },
  ]);
  person.unprotect('Leads');
  person.protect('Leads', '', true);
  await write([{ range: 'Leads!B3', values: [['Bob']] }]);
  expect(scene.grid()?.[2]).toEqual(['2', 'Bob']);
});

test('a strict list refuses what is not on it', async () => {
  await using scene = await begin([['Stage'], ['new']]);
  scene.sandbox.person.setValidation('Leads', 'A2:A', ['new', 'won']);
  const write = (stringValue: string): Promise<unknown> =>
    scene.update({
      updateCells: {
        start: { sheetId: 0, rowIndex: 1, columnIndex: 0 },
        rows: [{ values: [text(stringValue)] }],
        fields: 'userEnteredValue',
      },
    });
  expect(await refusalOf(write('lost'))).toMatch(/cell A2 violates the data validation rules/);
  await write('won');
  expect(scene.grid()).toEqual([['Stage'], ['won']]);
});

test('ten million cells are the most', async () => {
  await using scene = await begin();
  const grow = { appendDimension: { sheetId: 0, dimension: 'ROWS', length: 384_000 } };
  expect(await refusalOf(scene.update(grow))).toMatch(/above the limit of 10000000 cells/);
  await scene.update({ appendDimension: { sheetId: 0, dimension: 'ROWS', length: 1000 } });
  expect(
    (await scene.get('sheets.properties.gridProperties.rowCount')).sheets?.[0]?.properties?.gridProperties
      ?.rowCount,
  ).toBe(2000);
});

test('a reply has what the mask names and nothing else', async () => {
  await using scene = await begin([['Id']]);
  expect(await scene.get('properties/timeZone,sheets(properties.title)')).toEqual({
    properties: { timeZone: 'UTC' },
    sheets: [{ properties: { title: 'Leads' } }],
  });
  expect((await scene.get()).sheets?.[0]?.data).toBeUndefined();
  expect((await errorBodyOf(scene.get('sheets(properties(titel))'))).details).toMatchObject([
    { fieldViolations: [{ field: 'sheets.properties.titel' }] },
  ]);
  for (const broken of ['sheets(', 'a,,b', 'sheets)'])
    expect(await refusalOf(scene.get(broken))).toMatch(/^400 /);
});

test('unknown names are refused where they stand, and what is not carried out is said to be', async () => {
  await using scene = await begin();
  const titel = { titel: 'x' };
  const misspelt = { addSheet: { properties: { title: 'x', ...titel } } };
  expect(await refusalOf(scene.update(misspelt))).toBe(
    `400 Invalid JSON payload received. Unknown name "titel" at 'requests[0].add_sheet.properties': Cannot find field.`,
  );
  expect(await refusalOf(scene.update({ insertDimension: { range: { dimension: 'ROWZ' } } }))).toBe(
    `400 Invalid value at 'requests[0].insert_dimension.range.dimension' (TYPE_ENUM), "ROWZ"`,
  );
  expect(await refusalOf(scene.update({ addChart: {} }))).toMatch(/^501 .*addChart/);
  expect(await refusalOf(scene.update({}))).toMatch(/^400 /);
  await scene.update({ addSheet: { properties: { title: 'New', index: null } } });
  const { values } = sheetsClient(scene.sandbox).spreadsheets;
  const { spreadsheetId } = scene.sandbox;
  const unknown = { spreadsheetId, ranges: ['Leads'], valueRendering: 'FORMULA' };
  expect(await refusalOf(values.batchGet(unknown))).toMatch(
    /Unknown name "valueRendering": Cannot bind query parameter/,
  );
  expect(await refusalOf(values.append({ spreadsheetId, range: 'Leads', requestBody: {} }))).toMatch(/^501 /);
});
