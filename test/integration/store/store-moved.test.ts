import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hashContent } from '../../../src/core/lead/content-hash.ts';
import type { Cells, Values } from '../../../src/core/lead/value.ts';
import { scannedLeadCells } from '../../../src/store/differences.ts';
import { advanceBaselines } from '../../support/advance-baselines.ts';
import { moveBaselines } from '../../../src/store/baselines.ts';
import { finishRun } from '../../../src/store/runs.ts';
import { lawRuns } from '../../support/law-runs.ts';
import { fields, kept, type Scene, useScenes } from './store-scene.ts';

const scene = useScenes();
const acme = { companyName: 'Acme', stage: 'new' };
const won = { companyName: 'Acme', stage: 'won' };

type Leads = Readonly<Record<string, Cells>>;
type Rows = readonly (readonly [string | null, Cells])[];

/** What the two sides show, by lead id, as somebody sees it who knows nothing of scans. */
function sidesOf(leads: Leads, rows: Rows): ReadonlyMap<string, { lead: Cells | null; row: Cells | null }> {
  const first = new Map(rows.toReversed().flatMap(([id, cells]) => (id === null ? [] : [[id, cells]])));
  const ids = [...new Set([...Object.keys(leads), ...first.keys()])].toSorted();
  return new Map(ids.map((id) => [id, { lead: leads[id] ?? null, row: first.get(id) ?? null }]));
}

/** How many scans in a row missed each side, and whether the lead counts as deleted. */
interface Pair {
  readonly leads: number;
  readonly rows: number;
  readonly deleted: boolean;
}

const fresh: Pair = { leads: 0, rows: 0, deleted: false };

async function pairsOf({ pool, connection }: Scene): Promise<ReadonlyMap<string, Pair>> {
  const { rows } = await pool.query<Pair & { id: string }>(
    `select lead_id as id, lead_absences as leads, row_absences as rows, lead_deleted_at is not null as deleted
     from pairs where connection = $1`,
    [connection],
  );
  return new Map(rows.map(({ id, ...pair }) => [id, pair]));
}

/** What a scan compares of pairs, and how often it has moved. */
async function compared({ pool, connection }: Scene) {
  const { rows } = await pool.query<object>(
    `select lead_id, base, row_number, lead_deleted_at is null as listed, lead_absences > 0 as lead, row_absences > 0 as row
     from pairs where connection = $1 order by 1`,
    [connection],
  );
  const { rows: notes } = await pool.query<{ moves: number }>(
    `select moves from place_notes where connection = $1`,
    [connection],
  );
  return { pairs: rows, moves: notes[0]?.moves ?? 0 };
}

const print = (cells: Cells | null): string | null => cells && hashContent(cells, fields);

describe('what shows its baseline', () => {
  const inStep = async (here: Scene): Promise<void> => {
    const run = await here.scan({ a: acme, b: acme }, [
      ['a', acme],
      ['b', acme],
    ]);
    await here.adopt(run);
  };

  test('is met and not kept, on either side', async () => {
    const here = scene();
    await inStep(here);
    const run = await here.scan({ a: acme, b: won }, [
      ['a', acme],
      ['b', acme],
    ]);
    expect(kept(run)).toEqual({ leads: 1, rows: 0 });
    expect(await here.differences(run)).toMatchObject([{ leadId: 'b', base: acme, lead: won, row: acme }]);
    expect(await scannedLeadCells(here.pool, run, run.scan, ['a', 'b'])).toEqual(
      new Map([
        ['a', acme],
        ['b', won],
      ]),
    );
    expect(await here.counts(run)).toEqual({ records: 2, equal: 1 });
  });

  test.each([
    ['in any script and with any character', 'ü 漢字 🙂 "\\ \t\n\b\f\u0001\u001f\u007f\u2028/'],
    ['however long', 'ü"'.repeat(2_000)],
    ['just too long for its text', 'x'.repeat(992)],
    ['just short enough', 'x'.repeat(991)],
  ])('is recognised %s', async (_, companyName) => {
    const here = scene();
    const cells = { companyName, stage: null };
    await here.adopt(await here.scan({ a: cells }, [['a', cells]]));
    const run = await here.scan({ a: cells }, [['a', { ...cells, stage: 'new' }]]);
    expect(kept(run)).toEqual({ leads: 0, rows: 1 });
  });

  test('night after night moves no pair', async () => {
    const here = scene();
    await inStep(here);
    const before = await compared(here);
    for (let night = 0; night < 2; night++)
      await here.adopt(
        await here.scan({ a: acme, b: acme }, [
          ['a', acme],
          ['b', acme],
        ]),
      );
    expect(await compared(here)).toEqual(before);
    // Of a pair that is missed each night only the first time counts.
    for (let night = 0; night < 3; night++) await here.adopt(await here.scan({ a: acme }, [['a', acme]]));
    expect((await compared(here)).moves).toBe(before.moves + 1);
  });

  test('in another place is noted there, and is no difference', async () => {
    const here = scene();
    await inStep(here);
    const run = await here.scan({ a: acme, b: acme }, [
      ['b', acme],
      ['a', acme],
    ]);
    expect(await here.differences(run)).toEqual([]);
    await here.adopt(run);
    const { rows } = await here.pool.query(
      `select lead_id as id, row_number as row from pairs where connection = $1 order by 1`,
      [here.connection],
    );
    expect(rows).toEqual([
      { id: 'a', row: 3 },
      { id: 'b', row: 2 },
    ]);
  });

  test('a lead that comes again counts as it was seen last, also by a process that takes the scan up', async () => {
    const here = scene();
    await inStep(here);
    await finishRun(here.pool, (await here.scan({}, [])).id, 'succeeded', null);
    const run = await here.run();
    expect(await here.seeLeads(run, { a: acme }, await here.live(run))).toEqual([]);
    expect(await here.seeLeads(run, { a: won }, await here.live(run))).toEqual(['a']);
    expect((await here.live(run)).lead('a')).toEqual(won);
    expect(await here.seeLeads(run, { a: acme }, await here.live(run))).toEqual(['a']);
    const seen = await here.see(run, { b: acme }, [
      ['a', acme],
      ['b', acme],
    ]);
    expect(await here.differences(seen)).toEqual([]);
  });

  test('a further row with the id of one that was not kept is a copy', async () => {
    const here = scene();
    await inStep(here);
    const run = await here.scan({ a: acme, b: acme }, [
      ['a', acme],
      ['b', acme],
      ['a', acme],
    ]);
    expect([...run.scan.rows.loose()]).toMatchObject([{ leadId: 'a', row: 4 }]);
    expect(await here.differences(run)).toEqual([]);
  });
});

test('no edit is lost: after any nights, the differences are those that anybody sees who compares all', async () => {
  const ids = ['a', 'b', 'c', 'd'];
  const values = fc.constantFrom<Values>(acme, acme, acme, won, { companyName: null, stage: 'new' });
  const cells = fc.oneof(
    { weight: 9, arbitrary: values },
    { weight: 1, arbitrary: fc.constant<Cells>({ companyName: 'Acme', stage: { unreadable: 'soon' } }) },
  );
  const night = fc.record({
    leads: fc.dictionary(fc.constantFrom(...ids), cells, { noNullPrototype: true, minKeys: 2 }),
    // Most rows stand where they stood: in the place of one that is gone there is a new one.
    rows: fc
      .tuple(
        fc.tuple(...ids.map((id) => fc.tuple(fc.constantFrom(id, id, id, null), cells))),
        fc.array(fc.tuple(fc.constantFrom(...ids, 'e', null), cells), { maxLength: 2 }),
      )
      .map(([own, more]) => [...own, ...more]),
    agreed: fc.array(fc.record({ leadId: fc.constantFrom(...ids), values }), { maxLength: 2 }),
    deleted: fc.subarray(ids, { maxLength: 1 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(night, { minLength: 2, maxLength: 6 }), async (nights) => {
      const here = scene();
      const pairs = new Map<string, Pair>();
      for (const { leads, rows, agreed, deleted } of nights) {
        const run = await here.scan(leads, rows);
        const sides = sidesOf(leads, rows);
        const alone = [...pairs.keys()].filter((leadId) => !sides.has(leadId));
        const unlike = [...sides].filter(([, { lead, row }]) => {
          const isReadable = !JSON.stringify([lead, row]).includes('unreadable');
          return !isReadable || print(lead) !== print(row);
        });
        const found = await here.differences(run);
        expect(found.map(({ leadId, lead, row }) => [leadId, print(lead), print(row)])).toEqual(
          [
            ...unlike.map(([leadId, { lead, row }]) => [leadId, print(lead), print(row)]),
            ...alone.map((leadId) => [leadId, null, null]),
          ].toSorted(([one = ''], [other = '']) => ((one ?? '') < (other ?? '') ? -1 : 1)),
        );
        const copies = rows.filter(([leadId], nth) => rows.findIndex(([other]) => other === leadId) < nth);
        const loose = rows.filter(([leadId]) => leadId === null);
        const further = copies.filter(([leadId]) => leadId !== null);
        expect([...run.scan.rows.loose()]).toHaveLength(loose.length + further.length);
        const unequal = new Set([...unlike.map(([leadId]) => leadId), ...further.map(([leadId]) => leadId)]);
        expect(await here.counts(run)).toEqual({
          records: sides.size + loose.length,
          equal: [...sides.keys()].filter((leadId) => !unequal.has(leadId)).length,
        });
        const before = await compared(here);
        await here.adopt(run);
        const after = await compared(here);
        if (after.moves === before.moves) expect(after).toEqual(before);
        for (const leadId of new Set([...pairs.keys(), ...Object.keys(leads)])) {
          const known = pairs.get(leadId) ?? fresh;
          const { lead, row } = sides.get(leadId) ?? { lead: null, row: null };
          pairs.set(leadId, {
            leads: lead === null ? known.leads + 1 : 0,
            rows: row === null ? known.rows + 1 : 0,
            deleted: known.deleted && lead === null,
          });
        }
        expect(await pairsOf(here)).toEqual(pairs);
        // What a run's writes do to pairs.
        await advanceBaselines(here.pool, here.connection, agreed);
        const agreedOn = await compared(here);
        if (agreedOn.moves === after.moves) expect(agreedOn).toEqual(after);
        for (const { leadId } of agreed) pairs.set(leadId, pairs.get(leadId) ?? fresh);
        await moveBaselines(
          here.pool,
          here.connection,
          deleted.map((leadId) => ({ to: 'lead-deleted', leadId }) as const),
        );
        for (const leadId of deleted) {
          const pair = pairs.get(leadId);
          if (pair !== undefined) pairs.set(leadId, { ...pair, deleted: true });
        }
      }
    }),
    { numRuns: lawRuns(60) },
  );
});
