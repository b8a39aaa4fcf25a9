import { expect, test } from 'vitest';
import { repeatsHeadings } from '../../src/core/lead/table-rows.ts';
import type { Cells } from '../../src/core/lead/value.ts';

const fields = [
  { field: 'companyName', column: 'Company' },
  { field: 'city', column: 'City' },
  { field: 'nextFollowUpAt', column: 'Next follow-up' },
];
const line = (leadId: string | null, cells: Cells): boolean =>
  repeatsHeadings({ leadId, cells }, fields, 'Lead ID');
const date = { unreadable: 'Next follow-up' };

test.each<[string, string | null, Cells]>([
  ['all of them', 'Lead ID', { companyName: 'Company', city: 'City', nextFollowUpAt: date }],
  ['without the id', null, { companyName: 'Company', city: 'City', nextFollowUpAt: date }],
  ['in other case, with blanks', ' LEAD ID ', { companyName: 'company ', city: 'CITY' }],
  ['an export with fewer columns', 'Lead ID', { companyName: 'Company', city: null, nextFollowUpAt: null }],
  ['the id alone', 'Lead ID', {}],
])('%s: headings', (_, leadId, cells) => {
  expect(line(leadId, cells)).toBe(true);
});

test.each<[string, string | null, Cells]>([
  ['a lead with another id', 'a1', { companyName: 'Company', city: 'City' }],
  ['a company called Company', null, { companyName: 'Company' }],
  ['a company called Company in a city', null, { companyName: 'Company', city: 'Ulm' }],
  ['the heading of the ids over values', 'Lead ID', { companyName: 'Acme' }],
  ['headings in the wrong columns', null, { companyName: 'City', city: 'Company' }],
  ['an empty row', null, {}],
])('%s: a row', (_, leadId, cells) => {
  expect(line(leadId, cells)).toBe(false);
});
