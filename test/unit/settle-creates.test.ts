import { describe, expect, test } from 'vitest';
import { hashContent } from '../../src/core/lead/content-hash.ts';
import type { Cells, Values } from '../../src/core/lead/value.ts';
import type { LooseRow } from '../../src/core/merge/difference.ts';
import type { CreateMatch, Intent } from '../../src/core/merge/match-lost-creates.ts';
import { type SettledCreates, settleCreates } from '../../src/core/merge/settle-creates.ts';
import { runSteps } from '../support/run-steps.ts';
import { acme, found, intent, proof } from './intents.ts';
import { fields, policy } from './pair-state.ts';

function row(number: number, cells: Cells = acme, unreadableId: string | null = null): LooseRow {
  const contentHash = hashContent(cells, fields);
  return { row: number, leadId: null, unreadableId, idClosed: null, isApart: false, cells, contentHash };
}

const paused = (one: LooseRow): LooseRow => ({ ...one, isPaused: true });

interface Scan {
  /** Null: nothing is known of it. */
  readonly match: CreateMatch | null;
  readonly one?: Intent;
  readonly loose?: readonly LooseRow[];
  /** What lead L shows; it is in no list without. */
  readonly lead?: Cells;
  /** It is a pair with this baseline. */
  readonly base?: Values;
  readonly isInRow?: boolean;
  readonly filtered?: boolean;
}

function settle({
  match,
  one = intent(),
  loose = [row(2)],
  lead,
  base,
  isInRow,
  filtered,
}: Scan): SettledCreates {
  const facts = {
    matches: new Map(match === null ? [] : [[one.id, match]]),
    leads: new Map(lead === undefined ? [] : [['L', lead]]),
    bases: new Map(base === undefined ? [] : [['L', base]]),
    hasRow: () => isInRow === true,
    loose,
    scan: proof,
    filtered: filtered === true,
  };
  return runSteps(settleCreates([one], facts, policy()));
}

const ofL = found('L') as CreateMatch;
const created = { state: 'created', leadId: 'L' };
const two = { kind: 'ambiguous', candidates: ['L', 'M'] } as const;
const nobody = { kind: 'unrecognised' } as const;
const wait = { kind: 'wait' } as const;

describe('what becomes of an unfinished create', () => {
  const told = (settled: SettledCreates): unknown => ({
    ...settled.changes.get(1),
    ...(settled.rowless.length > 0 && { rowless: settled.rowless.map(({ leadId }) => leadId) }),
    ...(settled.actions.length > 0 && {
      actions: settled.actions.map(({ kind, leadId, row: on }) => `${kind} ${leadId ?? '-'} ${on}`),
    }),
    taken: [...settled.leadIds, ...settled.rows],
  });

  test.each<[string, Scan, object]>([
    [
      'its lead and its row',
      { match: ofL, lead: acme },
      { ...created, actions: ['link L 2'], taken: ['L', 2] },
    ],
    [
      'its id is in a row',
      { match: ofL, lead: acme, isInRow: true },
      { ...created, state: 'linked', taken: [] },
    ],
    [
      'its row is gone',
      { match: ofL, lead: acme, loose: [] },
      { ...created, state: 'abandoned', rowless: ['L'], taken: [] },
    ],
    [
      'the id of its row is unreadable',
      { match: ofL, loose: [row(2, acme, '#N/A')] },
      { ...created, taken: ['L'] },
    ],
    [
      'several leads, and the id of its row is unreadable',
      { match: two, loose: [row(2, acme, '#N/A')] },
      { scansWithoutIt: 0, taken: [] },
    ],
    [
      'its row is paused',
      { match: ofL, lead: acme, loose: [paused(row(2))] },
      { ...created, taken: ['L', 2] },
    ],
    [
      'several rows look like it, all paused',
      {
        match: ofL,
        lead: acme,
        loose: [row(2, { ...acme, stage: 'won' }), row(3, { ...acme, stage: 'lost' })].map(paused),
      },
      { ...created, taken: ['L', 2, 3] },
    ],
    [
      'its lead was known, and it was never linked',
      { match: ofL, lead: acme, one: intent({ leadId: 'L' }) },
      { actions: ['link L 2'], taken: ['L', 2] },
    ],
    [
      'several rows look like it',
      {
        match: ofL,
        lead: acme,
        loose: [row(2, { ...acme, stage: 'won' }), row(3, { ...acme, stage: 'lost' })],
      },
      { ...created, actions: ['hold - 2'], taken: ['L', 2, 3] },
    ],
    ['several leads', { match: two }, { scansWithoutIt: 0, actions: ['hold - 2'], taken: ['L', 'M', 2] }],
    [
      'several leads, no row',
      { match: two, loose: [] },
      { scansWithoutIt: 0, state: 'abandoned', taken: [] },
    ],
    [
      'no lead, though it was made',
      { match: nobody },
      { scansWithoutIt: 1, actions: ['hold - 2'], taken: [2] },
    ],
    ['no lead yet', { match: wait }, { scansWithoutIt: 1, taken: [2] }],
    ['no lead yet, no row', { match: wait, loose: [] }, { scansWithoutIt: 1, taken: [] }],
    ...[wait, null].map((match): [string, Scan, object] => [
      match === null ? 'nobody looked for it' : 'a filter hides it',
      { match, filtered: true },
      { scansWithoutIt: 1, actions: ['hold - 2'], taken: [2] },
    ]),
    [
      'a filter hides it, no row',
      { match: wait, filtered: true, loose: [] },
      { scansWithoutIt: 1, state: 'abandoned', taken: [] },
    ],
    [
      'the service may still act',
      { match: wait, filtered: true, one: intent({ attemptedAt: proof.startedAt }) },
      { taken: [2] },
    ],
    ['certainly not made', { match: { kind: 'again' } }, { state: 'abandoned', taken: [] }],
  ])('%s', (_, scan, expected) => {
    expect(told(settle(scan))).toEqual(expected);
  });

  test('the link names the create, and the row is known again as it is now', () => {
    const edited = { ...acme, stage: 'won' };
    const settled = settle({ match: ofL, lead: acme, loose: [row(4, edited)] });
    expect(settled.actions).toMatchObject([
      { kind: 'link', leadId: 'L', row: 4, intentId: 1, reason: 'settled-create' },
      { kind: 'update-lead', leadId: 'L', changes: { stage: { to: 'won' } } },
    ]);
    expect(settled.actions[1]).not.toHaveProperty('intentId');
    expect(settled.changes.get(1)).toMatchObject({ row: edited });
  });

  test('row and lead agree on what was sent and the lead shows', () => {
    const lead = { companyName: 'ACME', stage: null };
    expect(settle({ match: ofL, lead }).found).toMatchObject([
      { leadId: 'L', base: { companyName: 'Acme' } },
    ]);
    // A row that lost its id shows what both had: what differs is the lead's edit.
    const one = intent({ lostItsRow: true, leadId: 'L' });
    expect(settle({ match: ofL, one, lead: { companyName: 'Other', stage: 'won' } }).found).toMatchObject([
      { base: acme },
    ]);
    // What the lead does not show, the service may never have taken.
    const shown = settle({ match: ofL, one, lead: { companyName: 'Other', stage: null } });
    expect(shown.found[0]?.base).toEqual({ companyName: 'Acme' });
    expect(settle({ match: ofL, one }).found).toMatchObject([{ base: acme }]);
    expect(settle({ match: ofL }).found).toMatchObject([{ base: {}, isPair: false }]);
  });

  test('of a pair row and lead agree on its baseline', () => {
    const base = { companyName: 'Acme', stage: 'lost' };
    expect(settle({ match: ofL, lead: acme, base }).found).toMatchObject([{ base, isPair: true }]);
  });

  test('a create whose id is in a row lays no claim to a row that another one may have made', () => {
    const edited = row(3, { ...acme, stage: 'won' });
    const facts = {
      matches: new Map([1, 2].map((id) => [id, found(String(id)) as CreateMatch])),
      leads: new Map(['1', '2'].map((leadId) => [leadId, acme])),
      bases: new Map(),
      hasRow: (leadId: string) => leadId === '1',
      loose: [edited],
      scan: proof,
      filtered: false,
    };
    const settled = runSteps(settleCreates([intent(), intent({ id: 2 })], facts, policy()));
    expect(settled.changes.get(1)).toMatchObject({ state: 'linked' });
    expect(settled.actions).toMatchObject([{ kind: 'link', leadId: '2', row: 3, intentId: 2 }, {}]);
  });

  const many = { kind: 'ambiguous', candidates: ['L', 'M', 'N', 'O', 'P', 'Q', 'R'] } as const;
  const five = { kind: 'ambiguous', candidates: ['L', 'M', 'N', 'O', 'P'] } as const;
  test.each<[string, Scan, string]>([
    [
      'one lead that it may be',
      { match: { kind: 'ambiguous', candidates: ['L'] } },
      'the lead may be L: write its id into the row, or when it is another one, delete the row, sync, and add it again',
    ],
    ['five of them', { match: five }, 'the lead may be one of L, M, N, O, P: write its id'],
    ['seven of them', { match: many }, 'one of L, M, N, O, P, or one of 2 more new leads: write its id'],
    ['none, though it was made', { match: nobody }, 'there is no new lead: write the id of the right lead'],
    ['one that a filter may hide', { match: wait, filtered: true }, 'leads.query hides leads: look for it'],
    [
      'several rows',
      {
        match: ofL,
        lead: acme,
        loose: [row(2, { ...acme, stage: 'won' }), row(3, { ...acme, stage: 'lost' })],
      },
      'several rows look like it: write the id of its lead into the right row',
    ],
  ])('a person is told what to look for and what to type: %s', (_, scan, sentence) => {
    const [action] = settle(scan).actions;
    expect(action).toMatchObject({ kind: 'hold', reason: 'create.in-doubt' });
    expect(action?.message).toMatch(/^could not tell which lead was created from this row/);
    expect(action?.message).toContain(sentence);
  });

  test('a lead whose row is gone is known by what the row showed, and by what the lead shows if it is listed', () => {
    const lead = { ...acme, stage: 'won' };
    const rowless = { leadId: 'L', base: acme, isFresh: true, place: null };
    expect(settle({ match: ofL, lead, loose: [] }).rowless).toEqual([{ ...rowless, lead, isListed: true }]);
    expect(settle({ match: ofL, loose: [] }).rowless).toEqual([{ ...rowless, lead: acme, isListed: false }]);
  });

  test('a row that is as it was is not noted again, and several that may be it neither', () => {
    expect(settle({ match: ofL, lead: acme }).changes.get(1)).not.toHaveProperty('row');
    const loose = [row(2, { ...acme, stage: 'won' }), row(3, { ...acme, stage: 'lost' })];
    expect(settle({ match: ofL, lead: acme, loose }).changes.get(1)).not.toHaveProperty('row');
  });
});
