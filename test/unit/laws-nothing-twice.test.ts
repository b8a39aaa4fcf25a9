import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sameCell, type Values } from '../../src/core/lead/value.ts';
import { attemptOverAfter, type UnknownLead } from '../../src/core/merge/match-lost-creates.ts';
import { planNewRow } from '../../src/core/merge/plan-rows.ts';
import { lawRuns } from '../support/law-runs.ts';
import { anyCell, anyPolicy, recordOf } from './any-pair.ts';
import { attempt, idAt, intent, minute, proof } from './intents.ts';
import { matchCreates } from '../support/run-steps.ts';

describe('promise 3: nothing twice, when replies are lost', () => {
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
        expect([...matchCreates(intents, leads, scan).keys()].toSorted((a, b) => a - b)).toEqual(
          intents.map(({ id }) => id),
        );
      }),
    );
  });

  test('nothing twice: no lead is given to two intents, nor offered while another has it', () => {
    fc.assert(
      fc.property(anyIntents, anyLeads, anyScan, (intents, leads, scan) => {
        const settlements = [...matchCreates(intents, leads, scan).values()];
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
        for (const [id, { kind }] of matchCreates(intents, leads, scan)) {
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
        const kind = matchCreates([only], leads, scan).get(1)?.kind;
        if (fits.length > 0) expect(['found', 'ambiguous']).toContain(kind);
      }),
    );
  });

  test('the order in which the leads are seen does not matter', () => {
    fc.assert(
      fc.property(anyIntents, anyLeads, anyScan, (intents, leads, scan) => {
        const kinds = (order: readonly UnknownLead[]) =>
          [...matchCreates(intents, order, scan)].map(([id, one]) => [
            id,
            one.kind === 'ambiguous' ? one.candidates.toSorted() : one,
          ]);
        expect(kinds(leads.toReversed())).toEqual(kinds(leads));
      }),
    );
  });
});

test('promise 3: nothing is made of a row without a name, and what is sent is what the row shows', () => {
  fc.assert(
    fc.property(recordOf(anyCell, true), anyPolicy, (cells, choices) => {
      const actions = planNewRow(7, cells, null, choices);
      for (const { expect: shown } of actions) expect(shown).toEqual(cells);
      const action = actions.find(({ kind }) => kind === 'create-lead');
      if (action === undefined) return;
      expect(Object.keys(action.changes)).toContain('companyName');
      for (const [field, { from, to }] of Object.entries(action.changes)) {
        expect(from).toBeNull();
        expect(to).toBe(cells[field]);
        expect(sameCell(to, null)).toBe(false);
      }
    }),
    { numRuns: lawRuns(2000) },
  );
});
