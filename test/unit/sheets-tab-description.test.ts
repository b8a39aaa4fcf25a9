import { expect, test } from 'vitest';
import { parseSpreadsheet } from '../../src/targets/google-sheets/sheets-api.ts';
import { readTab, readTabAreas } from '../../src/targets/google-sheets/tab-description.ts';

const properties = { timeZone: 'Europe/Berlin', locale: 'de_DE' };
const sheet = (sheetId: number, title: string) => ({ properties: { sheetId, title } });

test.each([undefined, '', null])(
  'without a time zone (%j) nothing is read: it would be guessed',
  (timeZone) => {
    const { locale } = properties;
    const told = timeZone === undefined ? { locale } : { locale, timeZone };
    expect(() => readTab({ properties: told, sheets: [sheet(1, 'Leads')] }, 'Leads')).toThrow(
      expect.objectContaining({ code: 'target.unavailable', retry: 'now' }),
    );
  },
);

test('a tab is found by its title, in whatever case', () => {
  const found = (titles: readonly string[]) =>
    readTab({ properties, sheets: titles.map((title, at) => sheet(at, title)) }, 'Leads');
  expect(found(['Other', 'Leads'])).toMatchObject({ sheetId: 1 });
  expect(found(['Other', 'LEADS'])).toMatchObject({ sheetId: 1 });
  expect(found(['Other', 'Lead'])).toBeNull();
});

const areas = { merges: [{ startRowIndex: 1, endRowIndex: 2 }], protectedRanges: [{ range: {} }] };
const cells = {
  rowData: [{ values: [{ formattedValue: 'Lead ID', userEnteredValue: { stringValue: 'Lead ID' } }, {}] }],
};
const whole = {
  properties: { sheetId: 1, title: 'Leads', gridProperties: { rowCount: 9 } },
  data: [cells],
  ...areas,
};

test.each<[string, object]>([
  ['nothing', {}],
  ['a title', { properties: { sheetId: 1, title: 5 } }],
  ['properties', { properties: null }],
  ['the size', { properties: { title: 'Leads', gridProperties: 'large' } }],
  ['data', { data: {} }],
  ['a part of the data', { data: [null] }],
  ['rows', { data: [{ rowData: null }] }],
  ['a row', { data: [{ rowData: [null] }] }],
  ['cells', { data: [{ rowData: [{ values: 'Lead ID' }] }] }],
  ['a cell', { data: [{ rowData: [{ values: [null] }] }] }],
  ['what a cell shows', { data: [{ rowData: [{ values: [{ formattedValue: { text: 'Lead ID' } }] }] }] }],
  ['what was entered', { data: [{ rowData: [{ values: [{ userEnteredValue: null }] }] }] }],
  ['records', { developerMetadata: {} }],
  ['merged cells', { merges: null }],
  ['a merged cell', { merges: [null] }],
  ['protected ranges', { protectedRanges: {} }],
  ['open parts of them', { protectedRanges: [{ range: {}, unprotectedRanges: null }] }],
  ['a filter', { basicFilter: null }],
  ['tables', { tables: 'none' }],
])('a reply with half of %s is none of Google', (what, part) => {
  const read = (): void => {
    const parsed = parseSpreadsheet({ properties, sheets: [{ ...whole, ...part }] });
    readTab(parsed, 'Leads');
    readTabAreas(parsed, 1);
  };
  if (what === 'nothing') expect(read).not.toThrow();
  else expect(read).toThrow(expect.objectContaining({ code: 'target.unavailable', retry: 'now' }));
});
