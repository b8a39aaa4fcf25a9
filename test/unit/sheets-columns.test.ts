import { expect, test } from 'vitest';
import type { ColumnMapping } from '../../src/targets/shared/columns.ts';
import { quotedTab, rowRange } from '../../src/targets/google-sheets/grid.ts';
import { columnLetters } from '../../src/targets/shared/cell-name.ts';
import { type ColumnRecord, locateManagedColumns } from '../../src/targets/google-sheets/tab-description.ts';
import { contractFields } from '../contract/target-harness.ts';

const mapping: ColumnMapping = { fields: contractFields, idColumn: 'Lead ID', statusColumn: 'Sync' };
const shown = ['Lead ID', 'Company', 'Notes', 'City', 'Next follow-up', 'Sync'];
const record = (column: number, field: string, heading: string): ColumnRecord => ({
  metadataId: 100 + column,
  column,
  field,
  heading,
});
const all = [
  record(0, '@id', 'Lead ID'),
  record(1, 'name', 'Company'),
  record(3, 'city', 'City'),
  record(4, 'due', 'Next follow-up'),
  record(5, '@status', 'Sync'),
];

const cases: [what: string, headings: string[], records: ColumnRecord[], found: (number | null)[]][] = [
  ['headings alone', shown, [], [0, 1, 3, 4, 5]],
  ['headings with their records', shown, all, [0, 1, 3, 4, 5]],
  ['a renamed heading', shown.with(1, 'Firma'), all, [0, 1, 3, 4, 5]],
  ['a renamed heading without record', shown.with(1, 'Firma'), all.toSpliced(1, 1), [0, null, 3, 4, 5]],
  ['all renamed but one', ['a', 'b', 'c', 'd', 'e', ' SYNC'], all, [0, 1, 3, 4, 5]],
  [
    'renamed, and another column with the old heading',
    [...shown.with(1, 'Firma'), 'Company'],
    all,
    [0, 1, 3, 4, 5],
  ],
  ['a copy of a column', [...shown, 'City'], all, [0, 1, 3, 4, 5]],
  [
    'a record on two columns',
    shown.with(1, 'Firma'),
    [...all, record(2, 'name', 'Company')],
    [0, null, 3, 4, 5],
  ],
  [
    'a record of another heading',
    shown.with(1, 'Firma'),
    all.with(1, record(1, 'name', 'Firm')),
    [0, null, 3, 4, 5],
  ],
  [
    'a record of another field',
    shown.with(1, 'Firma'),
    all.with(1, record(1, 'city', 'Company')),
    [0, null, 3, 4, 5],
  ],
  ['headings that were swapped', shown.with(1, 'City').with(3, 'Company'), all, [0, 3, 1, 4, 5]],
  ['cells that were cut and pasted', [...shown.with(1, ''), 'Company'], all, [0, 6, 3, 4, 5]],
  ['a column that was cut away', shown.with(1, ''), all, [0, null, 3, 4, 5]],
];

test.each(cases)('columns are found: %s', (_, headings, records, found) => {
  const columns = locateManagedColumns(headings, records, mapping, 'the tab');
  const at = (field: string) => columns.fields.get(field)?.index ?? null;
  expect([columns.id, at('name'), at('city'), at('due'), columns.status]).toEqual(found);
});

test('an id column without heading and record is missing', () => {
  expect(() => locateManagedColumns(shown.with(0, ''), all, mapping, 'the tab')).toThrow(
    expect.objectContaining({ code: 'target.id-column-missing' }),
  );
});

test('records do not count where no heading is left: the first row is somebody else', () => {
  const row = ['id-1', 'Anna AG', '', 'Bonn', '46347', 'ok'];
  expect(() => locateManagedColumns(row, all, mapping, 'the tab')).toThrow(
    expect.objectContaining({
      code: 'target.header-missing',
      message: expect.not.stringMatching(/Anna|Bonn|id-1/),
    }),
  );
});

test('A1 notation', () => {
  expect([0, 25, 26, 701, 702].map(columnLetters)).toEqual(['A', 'Z', 'AA', 'ZZ', 'AAA']);
  expect(quotedTab("Q4 'won'")).toBe("'Q4 ''won'''");
  expect(rowRange('A1', 4, 1, 1)).toBe("'A1'!B5");
  expect(rowRange('A1', 4, 1, 3)).toBe("'A1'!B5:D5");
});
