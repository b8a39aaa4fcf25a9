import { expect, test } from 'vitest';
import { hashContent } from '../../src/core/lead/content-hash.ts';
import { planFoundRow, planMatchedRow } from '../../src/core/merge/plan.ts';
import { fields, pair, policy, told } from './pair-state.ts';

const lead = { companyName: 'Acme', stage: 'new', nextFollowUpAt: null };
const cells = { companyName: 'Acme', stage: 'won', nextFollowUpAt: null };
const state = pair({ lead, row: { row: 3, cells } });
const contentHash = hashContent(cells, fields);

test('a match is linked behind what it writes into the lead, both told by what the row shows', () => {
  const actions = planMatchedRow(state, policy({ onFirstSync: 'target-wins' }), 'the same name');
  expect(actions.map(told)).toEqual(['update-lead (target-wins); stage: new > won', 'link (matched)']);
  expect(actions.map((one) => one.contentHash)).toEqual([contentHash, contentHash]);
  expect(actions.at(-1)).toMatchObject({ leadId: 'lead-1', row: 3, expect: cells, message: 'the same name' });
});

test('a match writes into the row with the link itself, and holds beside it what differs', () => {
  const [link, ...none] = planMatchedRow(state, policy({ onFirstSync: 'leads-win' }), 'the same name');
  expect(link && told(link)).toBe('link (matched); stage: won > new');
  expect(none).toEqual([]);
  const [held, linked] = planMatchedRow(state, policy(), 'the same name');
  expect([held?.kind, linked?.kind]).toEqual(['hold', 'link']);
  expect(held?.contentHash).not.toBe(contentHash);
});

test('a row that is found again gets its id first, without a message', () => {
  const known = pair({ base: lead, lead, row: { row: 3, cells: lead } });
  expect(planFoundRow(known, policy()).map(told)).toEqual(['link (id-lost)']);
  expect(planFoundRow(known, policy())[0]?.message ?? null).toBeNull();
  const edited = planFoundRow(pair({ base: lead, lead, row: { row: 3, cells } }), policy());
  expect(edited.map(told)).toEqual(['link (id-lost)', 'update-lead (row-edited); stage: new > won']);
});
