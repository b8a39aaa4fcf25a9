import { expect, test } from 'vitest';
import { conflictsPage, heldList } from '../../src/ops/pages/conflicts.ts';
import type { HeldItem } from '../../src/store/held.ts';

const held = {
  kind: 'record',
  id: 1,
  connection: 'main',
  leadId: '',
  contentHash: '',
  field: '',
  row: 3,
  code: 'row.twin',
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

test.each([
  ['row.twin', '', 'Make a second lead of the row'],
  ['row.undone', '', 'Make a lead of the row'],
  ['lead.create-refused', '', 'Make a lead of the row'],
  ['lead.undone', 'a', 'Make a row of the lead'],
])('the button of %s says what is made', async (code, leadId, label) => {
  const page = await heldList(
    [{ item: { ...held, code, leadId }, fields: [], timeZone: 'UTC' }],
    '/conflicts',
  );
  expect(page.toString().match(/<button[^>]*>([^<]*)/)?.[1]).toBe(label);
});

test.each([
  ['10:00 CET', ['Europe/Berlin', 'Europe/Berlin']],
  ['09:00 UTC', ['Europe/Berlin', 'Asia/Tokyo']],
])('a page of held items is as of %s', async (shown, zones) => {
  const conflicts = zones.map((timeZone) => ({ item: held, fields: [], timeZone }));
  const now = Date.parse('2026-01-02T09:00:00Z');
  const all = { connection: null, total: 2, here: '/conflicts', next: null, isFirst: true, now };
  expect((await conflictsPage({ ...all, conflicts }).body).toString()).toContain(`2 Jan 2026, ${shown}`);
});
