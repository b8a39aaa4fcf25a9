import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fingerprint } from '../../src/lead/fingerprint.ts';
import type { Cells, Values } from '../../src/lead/value.ts';
import {
  agreedContent,
  attemptOverAfter,
  type Intent,
  settle,
  speaksAgainst,
  type UnknownLead,
} from '../../src/merge/settle.ts';
import { lawRuns } from '../support/law-runs.ts';
import { fields } from './pair-state.ts';

const attempt = Date.UTC(2026, 10, 21, 8);
const minute = 60_000;
const proof = { weight: 1, startedAt: attempt + attemptOverAfter };
const acme: Values = { companyName: 'Acme', stage: 'new' };

function intent(known: Partial<Intent> = {}): Intent {
  const content = known.content ?? acme;
  return {
    id: 1,
    rowKey: fingerprint(known.row ?? content, fields),
    row: content,
    content,
    leadId: null,
    attemptedAt: attempt,
    answered: false,
    scansWithoutIt: 0,
    ...known,
  };
}

/** A time-ordered UUID (version 7) made then. */
function idAt(epochMs: number, tail = 0): string {
  const time = epochMs.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${tail.toString(16).padStart(12, '0')}`;
}

function lead(tail = 0, cells: Cells = { ...acme, nextFollowUpAt: null }, epochMs = attempt): UnknownLead {
  return { id: idAt(epochMs, tail), cells };
}

const settled = (intents: readonly Intent[], unknown: readonly UnknownLead[], scan = proof) =>
  Object.fromEntries(settle(intents, unknown, scan));
const found = (leadId: string) => ({ kind: 'found', leadId });

describe('one create whose reply was lost', () => {
  test.each<[string, UnknownLead]>([
    ['the same content', lead()],
    [
      'and more, which the service filled in',
      lead(0, { ...acme, nextFollowUpAt: '2026-12-01T00:00:00.000Z' }),
    ],
    ['in another form', lead(0, { companyName: 'Acme', stage: 'new', region: '' })],
    ['made a little earlier: clocks differ', lead(0, acme, attempt - 5 * minute)],
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
    ['without a field that it ignores', { ...sent, segment: null }],
    ['to the second', { ...sent, nextFollowUpAt: '2026-12-01T08:00:00.000Z' }],
  ])('%s: it is ours', (_, cells) => {
    expect(settled([intent({ content: sent })], [lead(0, cells)])).toEqual({ 1: found(lead().id) });
  });

  test.each<[string, Cells]>([
    ['another name', { ...sent, companyName: 'New Bolt Handels GmbH' }],
    ['no name', { ...sent, companyName: null }],
    ['a name cut to a few letters', { ...sent, companyName: 'New A' }],
  ])('%s: it is not', (_, cells) => {
    expect(settled([intent({ content: sent })], [lead(0, cells)])).toEqual({ 1: { kind: 'wait' } });
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

  test('that the service said it made is never made again', () => {
    expect(settled([intent({ scansWithoutIt: 7, answered: true })], [])).toEqual({
      1: { kind: 'unrecognised' },
    });
  });
});

describe('several creates whose replies were lost', () => {
  const second = intent({ id: 2 });
  const full = { ...acme, nextFollowUpAt: '2026-12-01T00:00:00.000Z' };

  test('the same content twice, both made: one each', () => {
    expect(settled([intent(), second], [lead(2), lead(1)])).toEqual({
      1: found(idAt(attempt, 1)),
      2: found(idAt(attempt, 2)),
    });
  });

  test('the same content twice, one made: the other is looked for again', () => {
    expect(settled([intent(), second], [lead(1)])).toEqual({
      1: found(idAt(attempt, 1)),
      2: { kind: 'wait' },
    });
  });

  test('the same content twice, three made: none is chosen', () => {
    const kinds = [...settle([intent(), second], [lead(1), lead(2), lead(3)], proof).values()].map(
      ({ kind }) => kind,
    );
    expect(kinds).toEqual(['ambiguous', 'ambiguous']);
  });

  test('a rival that came too late for every candidate does not hide that two fit', () => {
    const late = intent({ id: 2, attemptedAt: attempt + 60 * minute });
    expect(settle([intent(), late], [lead(1), lead(2)], proof).get(1)?.kind).toBe('ambiguous');
  });

  test('a lead that is known to belong to one is not given to another', () => {
    expect(settled([intent({ leadId: lead().id }), second], [lead()])).toEqual({
      1: found(lead().id),
      2: { kind: 'wait' },
    });
    expect(settled([second, intent({ id: 3, leadId: lead().id })], [lead()])).toEqual({
      2: { kind: 'wait' },
      3: found(lead().id),
    });
  });

  test('of two contents the lead shows all of one and more than the other: it is the fuller one', () => {
    for (const order of [
      [intent({ id: 1, content: acme }), intent({ id: 2, content: full })],
      [intent({ id: 1, content: full }), intent({ id: 2, content: acme })],
    ]) {
      const fuller = order.find(({ content }) => content === full);
      const other = order.find(({ content }) => content === acme);
      const settlements = settle(order, [lead(1, full)], proof);
      expect(settlements.get(fuller?.id ?? 0)).toEqual(found(idAt(attempt, 1)));
      expect(settlements.get(other?.id ?? 0)).toEqual({ kind: 'wait' });
    }
  });

  test('different contents, both made: each gets its own', () => {
    const order = [intent({ id: 1, content: acme }), intent({ id: 2, content: full })];
    expect(settled(order, [lead(1, full), lead(2)])).toEqual({
      1: found(idAt(attempt, 2)),
      2: found(idAt(attempt, 1)),
    });
  });

  test('two contents of which neither includes the other, and one lead that fits both: none is chosen', () => {
    const a = intent({ id: 1, content: { companyName: 'Acme', stage: 'new' } });
    const b = intent({ id: 2, content: { companyName: 'Acme', nextFollowUpAt: full.nextFollowUpAt } });
    const kinds = [...settle([a, b], [lead(1, full)], proof).values()].map(({ kind }) => kind);
    expect(kinds).toEqual(['ambiguous', 'ambiguous']);
  });
});

describe('laws', () => {
  const anyContent = fc.constantFrom<Values>(
    { companyName: 'A' },
    { companyName: 'A', stage: 'new' },
    { companyName: 'A', nextFollowUpAt: '2026-12-01T00:00:00.000Z' },
    { companyName: 'B' },
  );
  const anyLead = fc.record({
    id: fc
      .integer({ min: -1, max: 1 })
      .chain((hour) => fc.nat(5).map((tail) => idAt(attempt + hour * 60 * minute, tail))),
    cells: fc.record({
      companyName: fc.constantFrom('A', 'B'),
      stage: fc.constantFrom('new', null),
      nextFollowUpAt: fc.constantFrom('2026-12-01T00:00:00.000Z', null),
    }),
  });
  const anyIntents = fc
    .array(
      fc.record({
        content: anyContent,
        leadId: fc.option(
          fc.nat(3).map((tail) => idAt(attempt, tail)),
          { freq: 4 },
        ),
        scansWithoutIt: fc.nat(2),
        attemptedAt: fc.constantFrom(attempt, attempt + 60 * minute),
      }),
      { maxLength: 6 },
    )
    .map((many) => {
      const known = new Set<string>();
      return many.map((one, index) => {
        const leadId = one.leadId !== null && !known.has(one.leadId) ? one.leadId : null;
        if (leadId !== null) known.add(leadId);
        return intent({ ...one, leadId, id: index + 1 });
      });
    });
  const anyLeads = fc.uniqueArray(anyLead, { selector: ({ id }) => id, maxLength: 6 });
  const anyScan = fc.record({
    weight: fc.constantFrom(0, 0.5, 1),
    startedAt: fc.constantFrom(attempt, proof.startedAt, proof.startedAt + 60 * minute),
  });

  test('every intent is settled, one way or another', () => {
    fc.assert(
      fc.property(anyIntents, anyLeads, anyScan, (intents, leads, scan) => {
        expect([...settle(intents, leads, scan).keys()].toSorted((a, b) => a - b)).toEqual(
          intents.map(({ id }) => id),
        );
      }),
    );
  });

  test('nothing twice: no lead is given to two intents, nor offered while another has it', () => {
    fc.assert(
      fc.property(anyIntents, anyLeads, anyScan, (intents, leads, scan) => {
        const settlements = [...settle(intents, leads, scan).values()];
        const given = settlements.flatMap((one) => (one.kind === 'found' ? [one.leadId] : []));
        expect(new Set(given).size).toBe(given.length);
        const offered = settlements.flatMap((one) => (one.kind === 'ambiguous' ? one.candidates : []));
        for (const id of offered) expect(given).not.toContain(id);
      }),
      { numRuns: lawRuns(2000) },
    );
  });

  test('nothing twice: "again" only after two complete scans without any lead that fits', () => {
    fc.assert(
      fc.property(anyIntents, anyLeads, anyScan, (intents, leads, scan) => {
        for (const [id, { kind }] of settle(intents, leads, scan)) {
          const one = intents.find((candidate) => candidate.id === id);
          if (kind !== 'again' || one === undefined) continue;
          expect(scan.weight).toBeGreaterThan(0);
          expect(scan.startedAt).toBeGreaterThanOrEqual(one.attemptedAt + attemptOverAfter);
          expect(one.scansWithoutIt + scan.weight).toBeGreaterThanOrEqual(2);
        }
      }),
      { numRuns: lawRuns(2000) },
    );
  });

  test('nothing twice: a lead that fits an intent is given to somebody or holds him up', () => {
    fc.assert(
      fc.property(anyContent, anyLeads, anyScan, (content, leads, scan) => {
        const only = intent({ content, scansWithoutIt: 1 });
        const fits = leads.filter(
          ({ id, cells }) =>
            Object.entries(content).every(([field, value]) => cells[field as keyof typeof cells] === value) &&
            id >= idAt(attempt - 5 * minute),
        );
        const kind = settle([only], leads, scan).get(1)?.kind;
        if (fits.length > 0) expect(['found', 'ambiguous']).toContain(kind);
      }),
    );
  });

  test('the order in which the leads are seen does not matter', () => {
    fc.assert(
      fc.property(anyIntents, anyLeads, anyScan, (intents, leads, scan) => {
        const kinds = (order: readonly UnknownLead[]) =>
          [...settle(intents, order, scan)].map(([id, one]) => [
            id,
            one.kind === 'ambiguous' ? one.candidates.toSorted() : one,
          ]);
        expect(kinds(leads.toReversed())).toEqual(kinds(leads));
      }),
    );
  });
});
