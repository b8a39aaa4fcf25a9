import { expect, test } from 'vitest';
import { formatOf, knownEndings } from '../../src/config/file-formats.ts';
import { createWorkbookTarget } from '../../src/targets/file/workbook-target.ts';

test.each([
  ['/data/leads.xlsx', 'xlsx'],
  ['leads.XLSM', 'xlsx'],
  ['https://example.com/dav/leads.csv', 'csv'],
  ['leads.tsv', 'csv'],
  ['leads.txt', 'csv'],
  ['leads.xls', null],
  ['leads', null],
  ['/data/.csv', null],
  ['leads.csv/other', null],
])('%s is of the format %s', (path, format) => {
  expect(formatOf(path)).toBe(format);
});

test('a file of no known ending is refused in words, not read as CSV', async () => {
  const options = { path: '/data/leads.none', idColumn: 'Lead ID', timeZone: 'UTC', fields: [] };
  const around = { dataDir: '/data', msgraph: {}, msgraphUrl: '' };
  await expect(createWorkbookTarget(options, around)).rejects.toMatchObject({
    code: 'target.unreadable',
    message: `/data/leads.none does not end in ${knownEndings}. Nothing was read or written.`,
  });
});
