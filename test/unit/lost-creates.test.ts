import { describe, expect, test } from 'vitest';
import type { Cell, Cells, Value, Values } from '../../src/core/lead/value.ts';
import {
  agreedContent,
  attemptOverAfter,
  speaksAgainst,
  tornWeight,
  type UnknownLead,
} from '../../src/core/merge/match-lost-creates.ts';
import { acme, attempt, found, idAt, intent, lead, minute, proof, settled } from './intents.ts';

test.each([
  ['shows all of many', { known: 1_000, missed: 0 }, 0.5, 0.5],
  ['shows all of a few', { known: 5, missed: 0 }, 0.25, 0.5],
  ['misses half of them', { known: 12, missed: 6 }, 0.05, 0.15],
  ['misses all of them', { known: 12, missed: 12 }, 0, 0.02],
  ['has nothing to be measured by', { known: 0, missed: 0 }, 0.05, 0.15],
])('a torn scan that %s proves as much as that', (_, scan, least, most) => {
  expect(tornWeight(scan)).toBeGreaterThanOrEqual(least);
  expect(tornWeight(scan)).toBeLessThanOrEqual(most);
});

describe('one create whose reply was lost', () => {
  test.each<[string, UnknownLead]>([
    ['the same content', lead()],
    [
      'and more, which the service filled in',
      lead(0, { ...acme, nextFollowUpAt: '2026-12-01T00:00:00.000Z' }),
    ],
    ['in another form', lead(0, { companyName: 'Acme', stage: 'new', region: '' })],
    ['made a little earlier: clocks differ', lead(0, acme, attempt - 5 * minute)],
    ['that another connection met since', { ...lead(), knownSince: attempt }],
    ['made much later', lead(0, acme, attempt + 600 * minute)],
    ['an id without a time', { id: '4f9c7f8e-3d1b-4c56-9a55-0a8e6a2b1c11', cells: acme }],
    ['an id of another kind', { id: 'lead_17', cells: acme }],
  ])('is found: %s', (_, made) => {
    expect(settled([intent()], [made])).toEqual({ 1: found(made.id) });
  });

  test.each<[string, UnknownLead]>([
    ['another name', lead(0, { ...acme, companyName: 'Acne' })],
    ['no name', lead(0, { stage: 'new' })],
    ['made before, by more than clocks differ', lead(0, acme, attempt - 5 * minute - 1)],
    ['that another connection knew before', { ...lead(), knownSince: attempt - 1 }],
  ])('is not found: %s', (_, other) => {
    expect(settled([intent()], [other])).toEqual({ 1: { kind: 'wait' } });
  });

  test.each<[string, Cells]>([
    ['another content', { ...acme, stage: 'won' }],
    ['a part of the content', { companyName: 'Acme' }],
    ['a cell that cannot be read', { ...acme, stage: { unreadable: 'new' } }],
  ])('of the same name is for a person to decide: %s', (_, cells) => {
    const candidates = [lead().id];
    expect(settled([intent({ scansWithoutIt: 7 })], [lead(0, cells)])).toEqual({
      1: { kind: 'ambiguous', candidates },
    });
  });

  test('two that fit are held, both named', () => {
    const candidates = [idAt(attempt, 1), idAt(attempt, 2)];
    expect(settled([intent()], [lead(2), lead(1)])).toEqual({ 1: { kind: 'ambiguous', candidates } });
  });

  test('only those that fit are named, when a namesake does not', () => {
    const candidates = [idAt(attempt, 1), idAt(attempt, 2)];
    const namesake = lead(3, { ...acme, stage: 'won' });
    expect(settled([intent()], [namesake, lead(2), lead(1)])).toEqual({
      1: { kind: 'ambiguous', candidates },
    });
  });

  test('two that fit one without a name are held, too: it is not made again', () => {
    const content = { stage: 'new' };
    const candidates = [idAt(attempt, 1), idAt(attempt, 2)];
    const leads = [lead(1, content), lead(2, content)];
    expect(settled([intent({ content, scansWithoutIt: 7 })], leads)).toEqual({
      1: { kind: 'ambiguous', candidates },
    });
  });

  test('a lead whose id is known needs no search', () => {
    expect(settled([intent({ leadId: 'x' })], [lead()], { weight: 0, startedAt: 0 })).toEqual({
      1: found('x'),
    });
  });
});

describe('a lead that the service stored otherwise than it was sent', () => {
  const sent: Values = {
    companyName: 'New Acme  Handels GmbH',
    segment: 'smb',
    region: 'bw',
    nextFollowUpAt: '2026-12-01T08:00:00.123Z',
  };

  test.each<[string, Cells]>([
    ['in capitals', { ...sent, region: 'BW' }],
    ['trimmed', { ...sent, companyName: 'New Acme Handels GmbH' }],
    ['cut off', { ...sent, companyName: 'New Acme  Handels' }],
    ['cut to eight characters', { ...sent, companyName: 'New Acme' }],
    ['without a field that it ignores', { ...sent, segment: null }],
    ['to the second', { ...sent, nextFollowUpAt: '2026-12-01T08:00:00.000Z' }],
  ])('%s: it is ours', (_, cells) => {
    expect(settled([intent({ content: sent })], [lead(0, cells)])).toEqual({ 1: found(lead().id) });
  });

  test.each<[string, Cells]>([
    ['another name', { ...sent, companyName: 'New Bolt Handels GmbH' }],
    ['no name', { ...sent, companyName: null }],
    ['a name cut to seven characters', { ...sent, companyName: 'New Acm' }],
  ])('%s: it is not', (_, cells) => {
    expect(settled([intent({ content: sent })], [lead(0, cells)])).toEqual({ 1: { kind: 'wait' } });
  });

  test('two thirds of what was sent are enough, less is for a person to decide', () => {
    const three = [intent({ content: { companyName: 'Acme', region: 'bw', segment: 'smb' } })];
    const most = lead(0, { companyName: 'ACME', region: 'BW', segment: null });
    const few = lead(0, { companyName: 'ACME', region: 'by', segment: null });
    expect(settled(three, [most])).toEqual({ 1: found(most.id) });
    expect(settled(three, [few])).toEqual({ 1: { kind: 'ambiguous', candidates: [few.id] } });
  });

  test.each<[string, Value, Cell, string]>([
    ['cut to eight characters', 'Garmisch-Partenkirchen', 'Garmisch', 'found'],
    ['cut to seven', 'Garmisch-Partenkirchen', 'Garmisc', 'ambiguous'],
    ['cut at its beginning', 'Garmisch-Partenkirchen', 'Partenkirchen', 'ambiguous'],
    ['that is longer', 'Garmisch', 'Garmisch-Partenkirchen', 'ambiguous'],
    ['of spaces, emptied', ' ', null, 'found'],
    ['that cannot be read', 'Garmisch', { unreadable: 'Garmisch' }, 'ambiguous'],
  ])('beside the name a field %s', (_, sentCity, city, kind) => {
    const one = intent({ content: { companyName: 'ACME', city: sentCity } });
    expect(settled([one], [lead(0, { companyName: 'Acme', city })])[1]?.kind).toBe(kind);
  });

  test('leads of longer names are not in the way, and what is offered comes by its id', () => {
    const one = intent({ content: { companyName: 'ACME Handels', stage: 'new' } });
    const [first, other] = [
      lead(1, { companyName: 'Acme Handels', stage: 'new' }),
      lead(2, { companyName: 'Some other company', stage: 'new' }),
    ];
    expect(settled([one], [first, other])).toEqual({ 1: found(first.id) });
    const cut = lead(3, { companyName: 'Acme Han', stage: 'new' });
    const again = lead(4, first.cells);
    expect(settled([one], [again, cut, other, first])).toEqual({
      1: { kind: 'ambiguous', candidates: [first.id, cut.id, again.id] },
    });
  });

  test('without a name, all that was sent must be alike', () => {
    const nameless = [intent({ content: { stage: 'new', region: 'bw', segment: 'smb' } })];
    const all = lead(0, { stage: 'New', region: 'BW', segment: 'SMB' });
    expect(settled(nameless, [all])).toEqual({ 1: found(all.id) });
    expect(settled(nameless, [lead(0, { ...all.cells, segment: null })])).toEqual({ 1: { kind: 'wait' } });
  });

  test('a name of spaces is like no other, and like none', () => {
    const blank = [intent({ content: { companyName: ' ', stage: 'new' } })];
    expect(settled(blank, [lead(0, { companyName: null, stage: 'new' })])).toEqual({ 1: { kind: 'wait' } });
  });

  test('one that fits exactly goes before one that resembles', () => {
    const leads = [lead(0, { ...sent, region: 'BW' }), lead(1, sent)];
    expect(settled([intent({ content: sent })], leads)).toEqual({ 1: found(lead(1).id) });
  });

  test('two that resemble are held, both named', () => {
    const leads = [lead(0, { ...sent, region: 'BW' }), lead(1, { ...sent, segment: null })];
    expect(settled([intent({ content: sent })], leads)).toEqual({
      1: { kind: 'ambiguous', candidates: leads.map(({ id }) => id) },
    });
  });

  test('what it was given otherwise is not agreed on, but for the spelling', () => {
    const cells = { ...sent, region: 'BW', segment: null, companyName: 'New Acme' };
    const { segment: _, companyName: __, ...agreed } = sent;
    expect(agreedContent(intent({ content: sent }), cells)).toEqual(agreed);
  });
});

describe('a create that no scan shows', () => {
  test.each<[string, number, { weight: number; startedAt: number }, string]>([
    ['first complete scan', 0, proof, 'wait'],
    ['second complete scan', 1, proof, 'again'],
    ['many before', 7, proof, 'again'],
    ['second scan, filtered', 1, { ...proof, weight: 0 }, 'wait'],
    ['second scan, torn', 1, { ...proof, weight: 0.5 }, 'wait'],
    ['fourth torn scan', 1.5, { ...proof, weight: 0.5 }, 'again'],
    ['second scan, begun too early', 1, { ...proof, startedAt: proof.startedAt - 1 }, 'wait'],
    ['second scan, begun before the attempt', 1, { ...proof, startedAt: attempt - minute }, 'wait'],
  ])('%s', (_, scansWithoutIt, scan, expected) => {
    expect(settled([intent({ scansWithoutIt })], [], scan)).toEqual({ 1: { kind: expected } });
  });

  test.each<[number, number, number]>([
    [1, attempt + attemptOverAfter, 1],
    [0.5, attempt + attemptOverAfter, 0.5],
    [1, attempt + attemptOverAfter - 1, 0],
    [0, attempt + attemptOverAfter, 0],
  ])('a scan (weight %d, begun at %i) speaks against it: %d', (weight, startedAt, expected) => {
    expect(speaksAgainst(intent(), { weight, startedAt })).toBe(expected);
  });

  test('that the service said it made may be any new lead, whatever it looks like', () => {
    const candidates = [lead().id];
    const cells = { companyName: 'X-Acme', stage: 'other' };
    expect(settled([intent({ answered: true })], [lead(0, cells)])).toEqual({
      1: { kind: 'ambiguous', candidates },
    });
  });

  test('that the service said it made is none of the leads that were made long afterwards', () => {
    const late = { companyName: 'X-Acme', stage: 'other' };
    const waits = { 1: { kind: 'wait' } };
    const answered = [intent({ answered: true })];
    expect(settled(answered, [lead(0, late, attempt + attemptOverAfter + 5 * minute + 1)])).toEqual(waits);
    expect(settled(answered, [lead(0, late, attempt + attemptOverAfter + 5 * minute)])).not.toEqual(waits);
    expect(settled(answered, [{ id: 'lead_17', cells: late }])).not.toEqual(waits);
  });

  test('gives way to one that is alike and that the service said it made: only that one certainly happened', () => {
    const made = lead();
    expect(settled([intent({ id: 1 }), intent({ id: 2, answered: true })], [made])).toEqual({
      1: { kind: 'wait' },
      2: found(made.id),
    });
  });

  test('that the service said it made is never made again', () => {
    expect(settled([intent({ scansWithoutIt: 7, answered: true })], [])).toEqual({
      1: { kind: 'unrecognised' },
    });
  });
});
