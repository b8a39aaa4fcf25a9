import { expect, test } from 'vitest';
import { heldList } from '../../src/ops/pages/conflicts.ts';
import type { HeldItem } from '../../src/store/held.ts';

test.each([
  ['row.twin', '', 'Make a second lead of the row'],
  ['row.undone', '', 'Make a lead of the row'],
  ['lead.create-refused', '', 'Make a lead of the row'],
  ['lead.undone', 'a', 'Make a row of the lead'],
])('the button of %s says what is made', async (code, leadId, label) => {
  const item = {
    kind: 'record',
    id: 1,
    connection: 'main',
    leadId,
    contentHash: '',
    field: '',
    row: 3,
    code,
    message: 'why',
    company: 'Acme',
    lead: null,
    rowValue: null,
    resolution: null,
    author: null,
    requestedBy: null,
    records: null,
    decided: null,
    since: '2026-01-01T00:00:00Z',
  } satisfies HeldItem;
  const page = await heldList([{ item, fields: [], timeZone: 'UTC' }], '/conflicts');
  expect(page.toString().match(/<button[^>]*>([^<]*)/)?.[1]).toBe(label);
});
