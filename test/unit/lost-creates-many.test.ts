import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Cells, Values } from '../../src/core/lead/value.ts';
import { inTurns, stretchMs } from '../../src/sync/concurrency.ts';
import { cpuMs } from '../support/cpu-ms.ts';
import { lawRuns } from '../support/law-runs.ts';
import { found, idAt, attempt, intent, proof } from './intents.ts';
import { intentRows, matchCreates } from '../support/run-steps.ts';

const many = 5_000;
const numbers = Array.from({ length: many }, (_, index) => index + 1);

/** One after the other, as a run makes them. */
const at = (number: number): number => attempt + number * 20;
const contentOf = (number: number): Values => ({
  companyName: `Firm ${number} Handels GmbH`,
  region: `r${number % 10}`,
  stage: 'new',
});
const intentsOf = (content: (number: number) => Values) =>
  numbers.map((number) =>
    intent({
      id: number,
      content: content(number),
      contentHash: `intent-${number}`,
      attemptedAt: at(number),
    }),
  );
const leadsOf = (cells: (number: number) => Cells) =>
  numbers.map((number) => ({ id: idAt(at(number) + 5, number), cells: cells(number) }));

// Processor time: a bound that a quadratic search passes tenfold, and a busy machine does not.
const longestMs = 8_000;

test.each<[string, (number: number) => Values, (number: number) => Cells]>([
  ['each as it was sent', contentOf, contentOf],
  [
    'in capitals',
    contentOf,
    (number) => ({ ...contentOf(number), companyName: contentOf(number).companyName?.toUpperCase() ?? null }),
  ],
  ['all alike', () => contentOf(1), () => contentOf(1)],
])('thousands of creates find their leads: %s', (_, sent, made) => {
  const before = cpuMs();
  const settled = matchCreates(intentsOf(sent), leadsOf(made), proof);
  expect(cpuMs() - before).toBeLessThan(longestMs);
  const leadIds = [...settled.values()].map((one) => one.kind === 'found' && one.leadId);
  expect(new Set(leadIds)).toEqual(new Set(leadsOf(made).map(({ id }) => id)));
  expect(settled.get(many)).toEqual(found(idAt(at(many) + 5, many)));
});

test('thousands that were edited in one column, and thousands that are gone, are looked for in no time', () => {
  const rows = numbers.map((number) => ({ contentHash: `row-${number}`, number, cells: contentOf(number) }));
  const edited = rows.map((row) => ({ ...row, cells: { ...row.cells, stage: 'won' } }));
  const before = cpuMs();
  const ofEdited = intentRows(intentsOf(contentOf), edited);
  const ofOthers = intentRows(
    intentsOf((number) => ({ companyName: `Other ${number}`, region: `x${number}` })),
    rows,
  );
  expect(cpuMs() - before).toBeLessThan(longestMs);
  expect(
    [...ofEdited].filter(
      ([
        id,
        {
          rows: [row],
          certain,
        },
      ]) => certain && row?.number === id,
    ),
  ).toHaveLength(many);
  expect([...ofOthers.values()].every((one) => one.rows.length === 0 && !one.certain)).toBe(true);
});

test('more rows than a call takes arguments are no trouble', () => {
  const rows = Array.from({ length: 150_000 }, (_, number) => ({
    contentHash: '',
    cells: contentOf(number),
  }));
  expect(intentRows([intent({ content: contentOf(77), contentHash: 'edited' })], rows).get(1)?.rows).toEqual([
    rows[77],
  ]);
});

test('between two long steps of work all else has its turn', async () => {
  let turns = 0;
  let other = setImmediate(function turn() {
    turns += 1;
    other = setImmediate(turn);
  });
  const turnsAt: number[] = [];
  function* work(): Generator<void, string, void> {
    for (let step = 0; step < 8; step += 1) {
      turnsAt.push(turns);
      for (const end = performance.now() + stretchMs; performance.now() < end; );
      yield;
    }
    return 'done';
  }
  expect(await inTurns(work())).toBe('done');
  clearImmediate(other);
  expect(new Set(turnsAt).size).toBe(turnsAt.length);
});

test('how many others there are, and in which order leads come, changes nothing for a create', () => {
  const anyNumber = fc.integer({ min: 1, max: 40 });
  fc.assert(
    fc.property(fc.uniqueArray(anyNumber), fc.uniqueArray(anyNumber), fc.boolean(), (sent, made, loud) => {
      const spelled = (number: number): Cells =>
        loud ? { ...contentOf(number), region: `R${number % 10}` } : contentOf(number);
      const intents = sent.map((id) => intent({ id, content: contentOf(id), attemptedAt: at(id) }));
      const leads = made.map((number) => ({ id: idAt(at(number), number), cells: spelled(number) }));
      const settled = matchCreates(intents, leads, proof);
      expect(Object.fromEntries(matchCreates(intents.toReversed(), leads.toReversed(), proof))).toEqual(
        Object.fromEntries(settled),
      );
      for (const one of intents) {
        const alone = matchCreates([one], leads, proof).get(one.id);
        expect(settled.get(one.id)).toEqual(alone);
        expect(alone).toEqual(made.includes(one.id) ? found(idAt(at(one.id), one.id)) : { kind: 'wait' });
      }
    }),
    { numRuns: lawRuns(300) },
  );
});
