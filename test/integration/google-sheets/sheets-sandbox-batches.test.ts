import type { sheets_v4 } from '@googleapis/sheets';
import { expect, test } from 'vitest';
import { errorBodyOf, refusalOf, sheetsClient } from './sheets-sandbox-client.ts';
import { begin, columnRecord, rows, text } from './sheets-sandbox-scene.ts';

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

test('the time zone and the locale are ones that there are', async () => {
  await using scene = await begin();
  const change = (properties: sheets_v4.Schema$SpreadsheetProperties): sheets_v4.Schema$Request => ({
    updateSpreadsheetProperties: { properties, fields: Object.keys(properties).join() },
  });
  await scene.update(change({ title: 'Ours', timeZone: 'Europe/Berlin', locale: 'de_DE' }));
  expect(await scene.get('properties(title,timeZone,locale)')).toEqual({
    properties: { title: 'Ours', timeZone: 'Europe/Berlin', locale: 'de_DE' },
  });
  expect(await refusalOf(scene.update(change({ timeZone: 'Europe/Nowhere' })))).toMatch(/Invalid time zone/);
  expect(await refusalOf(scene.update(change({ locale: 'x' })))).toMatch(/Unsupported locale/);
  expect(await refusalOf(scene.update(change({ autoRecalc: 'HOUR' })))).toMatch(/^501 /);
});
