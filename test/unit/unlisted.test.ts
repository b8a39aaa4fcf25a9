import { expect, test } from 'vitest';
import type { Policy } from '../../src/core/merge/policy.ts';
import { afterRejectedId, isAskedFor, type UnlistedRow } from '../../src/core/merge/difference.ts';
import { policy } from './pair-state.ts';

const known = { companyName: 'Acme', stage: 'new', nextFollowUpAt: null };
const usual: UnlistedRow = {
  cells: known,
  base: known,
  leadAbsences: 0,
  deletionDone: false,
  isStray: false,
};
const edited = { ...known, stage: 'won' };

test.each<[string, Partial<UnlistedRow>, all: boolean, filtered: boolean]>([
  ['shows its baseline', {}, false, false],
  ['shows a part of its baseline', { cells: { companyName: 'Acme' } }, false, false],
  ['was edited', { cells: edited }, true, true],
  ['was edited, of a deleted lead', { cells: edited, deletionDone: true, leadAbsences: 3 }, true, true],
  ['has a cell that cannot be read', { cells: { ...known, stage: { unreadable: '#REF!' } } }, true, true],
  ['has a field that was never in step', { base: { companyName: 'Acme' } }, true, true],
  ['came back', { isStray: true, deletionDone: true }, true, true],
  ['has an id that nobody knows', { base: null }, true, true],
  ['shows its baseline, and its lead was gone before', { leadAbsences: 1 }, false, true],
  ['shows its baseline, and its lead is deleted', { leadAbsences: 2, deletionDone: true }, false, false],
])('a row %s: its lead is asked for', (_, row, all, filtered) => {
  expect(isAskedFor({ ...usual, ...row }, false, policy())).toBe(all);
  expect(isAskedFor({ ...usual, ...row }, true, policy())).toBe(filtered);
});

test('of a row that shows its baseline a person is asked, where leads may be deleted for it', () => {
  const isAsked = (choices: Partial<Policy>): boolean =>
    isAskedFor({ ...usual, leadAbsences: 1 }, false, policy(choices));
  expect(isAsked({ onLeadDeleted: 'ask' })).toBe(true);
  expect(isAsked({ onLeadDeleted: 'ask', direction: 'to-leads' })).toBe(false);
});

test.each([
  ['01800000-0000-7000-8000-000000000001', false, 'unknown'],
  ['call back', false, 'gone'],
  ['..', false, 'gone'],
  ['lead-7', true, 'unknown'],
] as const)('the service rejects the id %s, known: %s', (leadId, isKnown, answer) => {
  expect(afterRejectedId(leadId, isKnown)).toBe(answer);
});
