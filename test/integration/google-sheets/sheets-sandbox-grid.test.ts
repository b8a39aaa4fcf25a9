import type { sheets_v4 } from '@googleapis/sheets';
import { expect, test } from 'vitest';
import { refusalOf, sheetsClient } from './sheets-sandbox-client.ts';
import { begin, columnRecord, columns, rows, text } from './sheets-sandbox-scene.ts';

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
    // The id of the first tab is 0, which Google leaves out here, and no other zero.
    { range: { startRowIndex: 2, endRowIndex: 4, startColumnIndex: 1, endColumnIndex: 2 } },
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

test('merges and protected ranges go with rows that move, hidden rows are read all the same', async () => {
  await using scene = await begin([
    ['Id', 'Name'],
    ['1', 'a'],
    ['2', 'b'],
    ['3', 'c'],
  ]);
  const { person } = scene.sandbox;
  const merged = { sheetId: 0, startRowIndex: 1, endRowIndex: 2, startColumnIndex: 2, endColumnIndex: 4 };
  const hidden = { properties: { hiddenByUser: true }, fields: 'hiddenByUser', range: rows(1, 2) };
  await scene.update(
    { mergeCells: { range: merged, mergeType: 'MERGE_ALL' } },
    {
      addProtectedRange: { protectedRange: { range: { ...merged, endColumnIndex: 3 }, description: 'ours' } },
    },
    { updateDimensionProperties: hidden },
    { moveDimension: { source: rows(1, 2), destinationIndex: 4 } },
    { deleteDimension: { range: rows(1, 2) } },
  );
  person.hideRows('Leads', 0);
  expect(scene.grid()).toEqual([
    ['Id', 'Name'],
    ['3', 'c'],
    ['1', 'a'],
  ]);
  const moved = { startRowIndex: 2, endRowIndex: 3 };
  const { sheetId: _, ...area } = merged;
  const { sheets } = await scene.get(
    'sheets(merges,protectedRanges(range,requestingUserCanEdit),data.rowMetadata.hiddenByUser)',
    ['Leads!A1:D3'],
  );
  expect(sheets).toEqual([
    {
      merges: [{ ...area, ...moved }],
      protectedRanges: [{ range: { ...area, endColumnIndex: 3, ...moved }, requestingUserCanEdit: true }],
      data: [{ rowMetadata: [{ hiddenByUser: true }, {}, { hiddenByUser: true }] }],
    },
  ]);
});

test('of merged cells the first alone holds anything; rows put in between are merged too, one cell is not', async () => {
  await using scene = await begin([
    ['Id', 'Name'],
    ['1', 'a'],
    ['2', 'b'],
    ['3', 'c'],
  ]);
  const { person } = scene.sandbox;
  const merges = async () => (await scene.get('sheets.merges')).sheets?.[0]?.merges;
  person.merge('Leads', 'A2:A3');
  person.merge('Leads', 'A2:B3');
  person.type('Leads', 2, 1, 'typed');
  await scene.update({
    updateCells: {
      start: { sheetId: 0, rowIndex: 2, columnIndex: 0 },
      rows: [{ values: [{ userEnteredValue: { stringValue: 'lost' } }] }],
      fields: 'userEnteredValue',
    },
  });
  expect(scene.grid()).toEqual([
    ['Id', 'Name'],
    ['typed', ''],
    ['', ''],
    ['3', 'c'],
  ]);
  person.insertRows('Leads', 2);
  expect(await merges()).toEqual([
    { startRowIndex: 1, endRowIndex: 4, startColumnIndex: 0, endColumnIndex: 2 },
  ]);
  expect(() => person.unmerge('Leads', 'A2:A3')).toThrow('must select all cells');
  person.deleteColumns('Leads', 1);
  person.deleteRows('Leads', 2, 2);
  expect(await merges()).toBeUndefined();
  person.merge('Leads', 'A2:A3');
  person.unmerge('Leads', 'A1:C9');
  expect(await merges()).toBeUndefined();
});

test('records of a sheet hold 30,000 characters, and a place is one row or column', async () => {
  await using scene = await begin();
  const record = (metadataValue: string, endIndex = 1): sheets_v4.Schema$Request => ({
    createDeveloperMetadata: {
      developerMetadata: {
        metadataKey: 'k',
        metadataValue,
        visibility: 'DOCUMENT',
        location: { dimensionRange: columns(0, endIndex) },
      },
    },
  });
  await scene.update(record('x'.repeat(29_000)));
  expect(await refusalOf(scene.update(record('x'.repeat(1000))))).toMatch(/30000 characters/);
  expect(await refusalOf(scene.update(record('x', 2)))).toMatch(/single row or column/);
  const { developerMetadata } = sheetsClient(scene.sandbox).spreadsheets;
  const search = async (metadataKey: string): Promise<unknown> => {
    const requestBody = { dataFilters: [{ developerMetadataLookup: { metadataKey } }] };
    const { data } = await developerMetadata.search({
      spreadsheetId: scene.sandbox.spreadsheetId,
      requestBody,
    });
    return data.matchedDeveloperMetadata?.length;
  };
  expect([await search('k'), await search('other')]).toEqual([1, undefined]);
});

test('a tab keeps one name, one that is not frozen and one that is left', async () => {
  await using scene = await begin();
  expect(await refusalOf(scene.update({ addSheet: { properties: { title: 'Leads' } } }))).toBe(
    '400 Invalid requests[0].addSheet: A sheet with the name "Leads" already exists. Please enter another name.',
  );
  expect(await refusalOf(scene.update({ deleteSheet: { sheetId: 0 } }))).toMatch(/^400 /);
  expect(await refusalOf(scene.update({ deleteSheet: { sheetId: 9 } }))).toMatch(/No grid with id: 9/);
  const freeze = {
    properties: { sheetId: 0, gridProperties: { frozenRowCount: 1 } },
    fields: 'gridProperties.frozenRowCount',
  };
  await scene.update({ updateSheetProperties: freeze });
  const { sheets } = await scene.get('sheets.properties.gridProperties');
  expect(sheets?.[0]?.properties?.gridProperties).toEqual({
    rowCount: 1000,
    columnCount: 26,
    frozenRowCount: 1,
  });
  expect(await refusalOf(scene.update({ deleteDimension: { range: rows(1, 1000) } }))).toMatch(
    /non-frozen rows/,
  );
});
