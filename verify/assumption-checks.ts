import type { sheets_v4 } from '@googleapis/sheets';
import { SheetsApi } from '../src/targets/google-sheets/sheets-api.ts';
import { type Check, Differs, same, Skipped } from './check.ts';
import { refusedWith } from './refusals.ts';
import { area, type Scratch } from './scratch.ts';

const record = (value: string, location: sheets_v4.Schema$DeveloperMetadataLocation) => ({
  createDeveloperMetadata: {
    developerMetadata: {
      metadataKey: 'leadsync.verify',
      metadataValue: value,
      location,
      visibility: 'DOCUMENT',
    },
  },
});

const columnRecord = (sheetId: number, column: number) =>
  record(`column ${column}`, {
    dimensionRange: { sheetId, dimension: 'COLUMNS', startIndex: column, endIndex: column + 1 },
  });

/** Values of the records on each column of a tab's first row. */
async function columnRecords(scratch: Scratch, tab: string): Promise<(string | null)[]> {
  const { data } = await scratch.sheet(tab, '1:2', 'data(columnMetadata(developerMetadata))');
  return (data?.[0]?.columnMetadata ?? []).map(
    ({ developerMetadata }) => developerMetadata?.[0]?.metadataValue ?? null,
  );
}

/** What the stand-in takes for granted where Google's documentation says nothing. */
export const assumptionChecks: readonly Check[] = [
  {
    title: 'spreadsheets.get with a range of two rows tells of protected ranges further down',
    async run(scratch) {
      const { tab, sheetId } = await scratch.typed([['a']]);
      const range = area(sheetId, [10, 11], [0, 1]);
      await scratch.update([
        { addProtectedRange: { protectedRange: { range, description: 'leadsync verify' } } },
      ]);
      const { protectedRanges = [] } = await scratch.sheet(tab, '1:2', 'protectedRanges');
      same('ranges told', protectedRanges.length, 1);
      same('we may edit our own', protectedRanges[0]?.requestingUserCanEdit, true);
      return 'one, which this account may edit';
    },
  },
  {
    title: 'spreadsheets.get without a range tells of all merged cells',
    async run(scratch) {
      const { sheetId } = await scratch.typed([['a']]);
      await scratch.update([
        { mergeCells: { range: area(sheetId, [10, 12], [0, 1]), mergeType: 'MERGE_ALL' } },
      ]);
      const { data } = await scratch.raw('read', (sheets, spreadsheetId) =>
        sheets.spreadsheets.get({ spreadsheetId, fields: 'sheets(properties(sheetId),merges)' }),
      );
      const sheet = data.sheets?.find(({ properties }) => properties?.sheetId === sheetId);
      same('merged cells told', sheet?.merges?.length, 1);
      same('the first row of them', sheet?.merges?.[0]?.startRowIndex, 10);
      return 'they are told';
    },
  },
  {
    title: 'a value for a cell that a merge covers is taken and kept nowhere',
    async run(scratch) {
      const { tab, sheetId } = await scratch.typed([['a'], ['b']]);
      await scratch.update([
        { mergeCells: { range: area(sheetId, [0, 2], [0, 1]), mergeType: 'MERGE_ALL' } },
      ]);
      same('after the merge', await scratch.values(tab, 'A1:A2'), [['a']]);
      await scratch.type(tab, 'A2', [['c']], 'RAW');
      same('after the write', await scratch.values(tab, 'A1:A2'), [['a']]);
      return 'nothing of it shows';
    },
  },
  {
    title: 'a text that reads like an error is told from an error by its effective value',
    async run(scratch) {
      const { tab } = await scratch.typed([['text', 'error']]);
      await scratch.type(tab, 'A2', [['#REF!']], 'RAW');
      await scratch.type(tab, 'B2', [['#REF!']], 'USER_ENTERED');
      const { data } = await scratch.sheet(tab, 'A2:B2', 'data(rowData(values(effectiveValue)))');
      const [text, error] = data?.[0]?.rowData?.[0]?.values ?? [];
      same('the text', text?.effectiveValue?.stringValue, '#REF!');
      same('the error', error?.effectiveValue?.errorValue?.type, 'REF');
      return 'it is';
    },
  },
  {
    title: 'rows that are put in and taken out again in one request leave all as it was',
    async run(scratch) {
      const { tab, sheetId } = await scratch.typed([['a'], ['b'], ['c']], 5);
      const range = { sheetId, dimension: 'ROWS', startIndex: 2, endIndex: 4 };
      await scratch.update([
        { insertDimension: { range, inheritFromBefore: true } },
        { deleteDimension: { range } },
      ]);
      same('rows', await scratch.values(tab, 'A1:A5'), [['a'], ['b'], ['c']]);
      const { properties } = await scratch.sheet(tab, 'A1', 'properties(gridProperties)');
      same('rows of the grid', properties?.gridProperties?.rowCount, 5);
      return 'they do';
    },
  },
  {
    title: 'spreadsheets.get with a range tells of the records of the tab and of its columns',
    async run(scratch) {
      const { tab, sheetId } = await scratch.typed([['a', 'b']]);
      await scratch.update([record('tab', { sheetId }), columnRecord(sheetId, 1)]);
      const { developerMetadata = [] } = await scratch.sheet(tab, '1:2', 'developerMetadata');
      same(
        'records of the tab',
        developerMetadata.map((each) => each.metadataValue),
        ['tab'],
      );
      same('records of columns', (await columnRecords(scratch, tab)).slice(0, 2), [null, 'column 1']);
      return 'both are told';
    },
  },
  {
    title: 'a record goes with its column when it is moved, and a sort leaves it where it is',
    async run(scratch) {
      const { tab, sheetId } = await scratch.typed([
        ['a', 'b'],
        ['2', 'y'],
        ['1', 'x'],
      ]);
      await scratch.update([columnRecord(sheetId, 1)]);
      const source = { sheetId, dimension: 'COLUMNS', startIndex: 1, endIndex: 2 };
      await scratch.update([
        {
          sortRange: {
            range: area(sheetId, [1, 3], [0, 2]),
            sortSpecs: [{ dimensionIndex: 0, sortOrder: 'ASCENDING' }],
          },
        },
      ]);
      same('after the sort', (await columnRecords(scratch, tab)).slice(0, 2), [null, 'column 1']);
      await scratch.update([{ moveDimension: { source, destinationIndex: 0 } }]);
      same('after the move', (await columnRecords(scratch, tab)).slice(0, 2), ['column 1', null]);
      same('rows', await scratch.values(tab, 'A1:B3'), [
        ['b', 'a'],
        ['x', '1'],
        ['y', '2'],
      ]);
      return 'as expected';
    },
  },
  {
    title: 'insertDimension below the last row of the grid: with inheritFromBefore only',
    async run(scratch) {
      const { tab, sheetId } = await scratch.typed([['a']], 5);
      const range = { sheetId, dimension: 'ROWS', startIndex: 5, endIndex: 6 };
      const words = await refusedWith(
        400,
        scratch.update([{ insertDimension: { range, inheritFromBefore: false } }]),
      );
      await scratch.update([{ insertDimension: { range, inheritFromBefore: true } }]);
      const { properties } = await scratch.sheet(tab, 'A1', 'properties(gridProperties)');
      same('rows of the grid', properties?.gridProperties?.rowCount, 6);
      return `without it: ${words}`;
    },
  },
  {
    title: 'a new row inherits the number format of the row above',
    async run(scratch) {
      const { tab, sheetId } = await scratch.typed([['heading'], ['2026-07-01 09:30']]);
      const range = { sheetId, dimension: 'ROWS', startIndex: 2, endIndex: 3 };
      const cell = { userEnteredValue: { numberValue: 46_204.5 } };
      await scratch.update([
        { insertDimension: { range, inheritFromBefore: true } },
        {
          updateCells: {
            range: area(sheetId, [2, 3], [0, 1]),
            rows: [{ values: [cell] }],
            fields: 'userEnteredValue',
          },
        },
      ]);
      const cells = await scratch.cells(tab, 'A2:A3', 'effectiveFormat(numberFormat(type))');
      const types = cells.map(([one]) => one?.effectiveFormat?.numberFormat?.type);
      same('formats', types, ['DATE_TIME', 'DATE_TIME']);
      return 'DATE_TIME, as what was typed above';
    },
  },
  {
    title:
      'FORMULA gives a text that begins with = as it gives a formula; UNFORMATTED_VALUE tells them apart',
    async run(scratch) {
      const { tab } = await scratch.typed([['=1+2']]);
      await scratch.type(tab, 'A2', [['=1+2']], 'RAW');
      same('FORMULA', await scratch.values(tab, 'A1:A2', 'FORMULA'), [['=1+2'], ['=1+2']]);
      same('UNFORMATTED_VALUE', await scratch.values(tab, 'A1:A2', 'UNFORMATTED_VALUE'), [[3], ['=1+2']]);
      return 'the text is the same in both';
    },
  },
  {
    title: 'UNFORMATTED_VALUE with FORMATTED_STRING gives dates as texts and other numbers as numbers',
    async run(scratch) {
      const { tab } = await scratch.typed([['2026-07-01'], ['42']]);
      const values = await scratch.values(tab, 'A1:A2', 'UNFORMATTED_VALUE', 'FORMATTED_STRING');
      const [[date] = [], [number] = []] = values;
      if (typeof date !== 'string') throw new Differs(`the date is given as ${JSON.stringify(date)}`);
      same('the number', number, 42);
      same('in FORMULA the date is a', typeof (await scratch.values(tab, 'A1', 'FORMULA'))[0]?.[0], 'number');
      return `the date is "${date}"`;
    },
  },
  {
    title: 'RAW: null leaves a cell alone, an empty text empties it',
    async run(scratch) {
      const { tab } = await scratch.typed([['a', 'b', 'c']]);
      await scratch.type(tab, 'A1', [[null, '', 'new']], 'RAW');
      same('the row', await scratch.values(tab, 'A1:C1'), [['a', '', 'new']]);
      const [[, second] = []] = await scratch.cells(tab, 'A1:C1', 'userEnteredValue');
      same('what is in the emptied cell', second?.userEnteredValue, undefined);
      return 'as documented';
    },
  },
  {
    title: 'a write of which one range is refused changes nothing',
    async run(scratch) {
      const { tab } = await scratch.typed([['a']], 5);
      const data = ['A1', 'A9'].map((cell) => ({ range: `'${tab}'!${cell}`, values: [['new']] }));
      const words = await refusedWith(
        400,
        scratch.raw('write', (sheets, spreadsheetId) =>
          sheets.spreadsheets.values.batchUpdate({
            spreadsheetId,
            requestBody: { valueInputOption: 'RAW', data },
          }),
        ),
      );
      same('the first range', await scratch.values(tab, 'A1'), [['a']]);
      return words;
    },
  },
  {
    title: 'a text of 50,001 characters is refused',
    async run(scratch) {
      const { tab } = await scratch.typed([['a']]);
      const words = await refusedWith(400, scratch.type(tab, 'A1', [['x'.repeat(50_001)]], 'RAW'));
      return words;
    },
  },
  {
    title: 'a strict list refuses what is not on it, also from the API',
    async run(scratch) {
      const { tab, sheetId } = await scratch.typed([['stage'], ['new']]);
      const values = ['new', 'won'].map((userEnteredValue) => ({ userEnteredValue }));
      const rule = { condition: { type: 'ONE_OF_LIST', values }, strict: true };
      await scratch.update([{ setDataValidation: { range: area(sheetId, [1, 5], [0, 1]), rule } }]);
      const words = await refusedWith(400, scratch.type(tab, 'A2', [['lost']], 'RAW'));
      return words;
    },
  },
  {
    title: 'a range of a tab that is not there is refused with 400',
    async run(scratch) {
      return refusedWith(400, scratch.values(scratch.newTitle(), 'A1'));
    },
  },
  {
    title: 'Drive tells whether the file lies in the trash, and whether the account may edit it',
    async run(scratch) {
      const { trashed, canEdit } = await new SheetsApi(scratch.apiOptions()).file(
        new AbortController().signal,
      );
      if (trashed === null || canEdit === null) {
        throw new Skipped(
          'not told: enable the Google Drive API in the project, then a trashed file is noticed',
        );
      }
      same('trashed', trashed, false);
      same('canEdit', canEdit, true);
      return 'it does not, and it may';
    },
  },
];
