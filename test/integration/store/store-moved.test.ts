import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hashContent } from '../../../src/core/lead/content-hash.ts';
import type { Cells, Values } from '../../../src/core/lead/value.ts';
import { looseRows, scannedLeadCells } from '../../../src/store/differences.ts';
import { loadSeen, type SeenPairs } from '../../../src/store/seen-pairs.ts';
import { advanceBaselines, moveBaselines } from '../../../src/store/baselines.ts';
import { finishRun } from '../../../src/store/runs.ts';
import { stageLeads } from '../../../src/store/staging.ts';
import { lawRuns } from '../../support/law-runs.ts';
import { collect, fields, type Scene, stagedCounts, useScenes } from './store-scene.ts';

const scene = useScenes();
const acme = { companyName: 'Acme', stage: 'new' };
const won = { companyName: 'Acme', stage: 'won' };

type Leads = Readonly<Record<string, Cells>>;
type Rows = readonly (readonly [string | null, Cells])[];

/** What the two sides show, by lead id, as somebody sees it who knows nothing of staging. */
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

const print = (cells: Cells | null): string | null => cells && hashContent(cells, fields);

describe('what shows its baseline', () => {
  const inStep = async (here: Scene): Promise<void> => {
    const run = await here.scan({ a: acme, b: acme }, [
      ['a', acme],
      ['b', acme],
    ]);
    await here.adopt(run);
  };

  test('is met and not staged, on either side', async () => {
    const here = scene();
    await inStep(here);
    const run = await here.scan({ a: acme, b: won }, [
      ['a', acme],
      ['b', acme],
    ]);
    expect(await stagedCounts(here.pool, run.id)).toEqual({ leads: 1, rows: 0 });
    expect(await here.differences(run)).toMatchObject([{ leadId: 'b', base: acme, lead: won, row: acme }]);
    expect(await scannedLeadCells(here.pool, run.id, ['a', 'b'])).toEqual(
      new Map([
        ['a', acme],
        ['b', won],
      ]),
    );
    expect(await here.counts(run)).toEqual({ records: 2, equal: 1 });
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
    const stage = (cells: Cells, met: SeenPairs) =>
      stageLeads(here.pool, run, [{ leadId: 'a', shown: JSON.stringify(cells), cells }], fields, met);
    const met = await loadSeen(here.pool, run.id, 'lead');
    expect(await stage(acme, met)).toMatchObject({ repeated: [] });
    expect(await stage(won, await loadSeen(here.pool, run.id, 'lead'))).toMatchObject({ repeated: ['a'] });
    expect(await scannedLeadCells(here.pool, run.id, ['a'])).toEqual(new Map([['a', won]]));
    expect(await stage(acme, met)).toMatchObject({ repeated: ['a'] });
    await here.stage(run, { b: acme }, [
      ['a', acme],
      ['b', acme],
    ]);
    expect(await here.differences(run)).toEqual([]);
  });

  test('a further row with the id of one that was not staged is a copy', async () => {
    const here = scene();
    await inStep(here);
    const run = await here.scan({ a: acme, b: acme }, [
      ['a', acme],
      ['b', acme],
      ['a', acme],
    ]);
    expect(await collect(looseRows(here.pool, run))).toMatchObject([{ leadId: 'a', row: 4 }]);
    expect(await here.differences(run)).toEqual([]);
  });
});

test('no edit is lost: after any nights, the differences are those that anybody sees who compares all', async () => {
  // Of these k ends a block of records that are sealed together.
  const ids = ['a', 'b', 'k', 'd'];
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
        expect(await collect(looseRows(here.pool, run))).toHaveLength(loose.length + further.length);
        const unequal = new Set([...unlike.map(([leadId]) => leadId), ...further.map(([leadId]) => leadId)]);
        expect(await here.counts(run)).toEqual({
          records: sides.size + loose.length,
          equal: [...sides.keys()].filter((leadId) => !unequal.has(leadId)).length,
        });
        await here.adopt(run);
        for (const leadId of new Set([...pairs.keys(), ...Object.keys(leads)])) {
          const before = pairs.get(leadId) ?? fresh;
          const { lead, row } = sides.get(leadId) ?? { lead: null, row: null };
          pairs.set(leadId, {
            leads: lead === null ? before.leads + 1 : 0,
            rows: row === null ? before.rows + 1 : 0,
            deleted: before.deleted && lead === null,
          });
        }
        expect(await pairsOf(here)).toEqual(pairs);
        // What a run's writes do to pairs.
        await advanceBaselines(here.pool, here.connection, agreed);
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
