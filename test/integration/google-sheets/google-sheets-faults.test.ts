import { describe, expect, test } from 'vitest';
import type { SheetsFault } from '../../stand-ins/google-sheets/sheets-sandbox.ts';
import { makeGoogleSheetsHarness } from '../../contract/google-sheets-harness.ts';
import {
  type Table,
  anna,
  annaCells,
  append,
  bert,
  bertCells,
  headings,
  never,
  remove,
  update,
  verdict,
} from '../../contract/target-harness.ts';

const table = [headings, anna, bert];
const changes = [
  update('id-a', annaCells, { city: 'Rome' }),
  remove('id-b', bertCells),
  append('id-n', { name: 'New' }),
];
const wanted = [headings, anna.with(3, 'Rome'), ['id-n', 'New', '', '', '', '']];

/** A removed row is emptied and stays, above the new row or below it. */
const filled = (table: Table | null) => table?.filter((row) => row.some((cell) => cell !== ''));

const faults: [name: string, fault: SheetsFault, code: string][] = [
  ['a lost reply', { kind: 'reset-after' }, 'target.unavailable'],
  ['a reset', { kind: 'reset' }, 'target.unavailable'],
  ['a page instead of JSON', { kind: 'html' }, 'target.unavailable'],
  ['a 500', { status: 500 }, 'target.unavailable'],
  ['a 503', { status: 503 }, 'target.unavailable'],
  ['a 429', { status: 429, retryAfter: '7' }, 'target.rate-limited'],
];

describe('a fault of any request of a write', () => {
  test.each(faults)('%s: the repetition ends with everything written once', async (_, fault, code) => {
    for (let at = 1; at <= 5; at++) {
      await using harness = await makeGoogleSheetsHarness();
      harness.edit(() => table);
      let n = 0;
      harness.sandbox.before = () => (++n === at ? fault : undefined);
      let now = 0;
      const target = harness.target({ clock: { now: () => now, random: () => 0.5 } });
      await expect(target.write(changes, never())).rejects.toMatchObject({ code });
      now += 7_000;
      const outcomes = await target.write(changes, never());
      expect([at, ...outcomes.map(verdict)]).toEqual([at, 'done', 'done', 'done']);
      expect(filled(harness.show())).toEqual(wanted);
      // Nor does another process find anything to do.
      expect((await harness.target().write(changes, never())).map(verdict)).toEqual(['done', 'done', 'done']);
      expect(filled(harness.show())).toEqual(wanted);
    }
  });
});

test('after a write that Google could not serve half as much goes at once, then more again', async () => {
  await using harness = await makeGoogleSheetsHarness();
  harness.edit(() => [headings]);
  const target = harness.target();
  const rows = Array.from({ length: 8 }, (_, n) => append(`id-${n}`, { name: `Company ${n}` }));
  harness.sandbox.before = ({ method }) => {
    if (method !== 'spreadsheets.batchUpdate') return;
    harness.sandbox.before = null;
    return { status: 503 };
  };
  await expect(target.write(rows, never())).rejects.toMatchObject({ code: 'target.unavailable' });
  const writes = () => harness.sandbox.requests.filter(({ kind }) => kind === 'write').length;
  let from = writes();
  expect((await target.write(rows, never())).map(verdict)).toEqual(rows.map(() => 'done'));
  expect(writes() - from).toBe(2);
  from = writes();
  const more = rows.map((_, n) => append(`more-${n}`, {}));
  await target.write(more, never());
  expect(writes() - from).toBe(1);
  expect(harness.show()?.map(([id]) => id)).toEqual([
    'Lead ID',
    ...[...rows, ...more].map(({ leadId }) => leadId),
  ]);
});

test('a used-up quota is said before anything is sent, and what was begun is finished later', async () => {
  let now = 0;
  const clock = { now: () => now, random: () => 0.5 };
  await using harness = await makeGoogleSheetsHarness();
  harness.edit(() => table);
  const target = harness.target({ clock, perMinute: { read: 2, write: 1e6 } });
  // Both writes leave; the look at them does not.
  await expect(target.write(changes, never())).rejects.toMatchObject({
    code: 'target.rate-limited',
    retry: 'later',
    retryAfterMs: 60_000,
  });
  now += 30_000;
  await expect(target.write(changes, never())).rejects.toMatchObject({ retryAfterMs: 30_000 });
  now += 30_000;
  const patient = harness.target({ clock });
  expect((await patient.write(changes, never())).map(verdict)).toEqual(['done', 'done', 'done']);
  expect(filled(harness.show())).toEqual(wanted);
});

test('a tab that is taken away in the middle of a write is no fault of the values', async () => {
  await using harness = await makeGoogleSheetsHarness();
  harness.edit(() => table);
  harness.sandbox.before = ({ method }) => {
    if (method !== 'spreadsheets.values.batchUpdate') return;
    harness.sandbox.before = null;
    harness.sandbox.person.renameTab('Leads', 'Elsewhere');
  };
  const target = harness.target();
  await expect(target.write(changes, never())).rejects.toMatchObject({
    code: 'target.changed',
    retry: 'now',
  });
  harness.sandbox.person.renameTab('Elsewhere', 'Leads');
  expect((await target.write(changes, never())).map(verdict)).toEqual(['done', 'done', 'done']);
});

test('an aborted write sends nothing more', async () => {
  await using harness = await makeGoogleSheetsHarness();
  harness.edit(() => table);
  const stop = new AbortController();
  harness.sandbox.before = ({ method }) => {
    if (method === 'spreadsheets.values.batchGet') stop.abort(new DOMException('stop', 'AbortError'));
  };
  await expect(harness.target().write(changes, stop.signal)).rejects.toMatchObject({ name: 'AbortError' });
  expect(harness.show()).toEqual(table);
});
