import { describe, expect, test } from 'vitest';
import { transaction } from '../../../src/store/database.ts';
import { advanceBaselines } from '../../support/advance-baselines.ts';
import { adoptScan, copyPairs, moveBaselines } from '../../../src/store/baselines.ts';
import { basesOf, listDeleted, loadSpellings } from '../../../src/store/pairs.ts';
import { nextRound } from '../../../src/store/runs.ts';
import { type Scene, useScenes } from './store-scene.ts';

const scene = useScenes();
const acme = { companyName: 'Acme', stage: 'new' };
const won = { companyName: 'Acme', stage: 'won' };

/** Base and absences of each pair. */
async function pairsOf({ pool, connection }: Scene): Promise<Record<string, unknown>> {
  const { rows } = await pool.query<{ id: string; base: unknown; leads: number; rows: number }>(
    `select lead_id as id, base, lead_absences as leads, row_absences as rows from pairs where connection = $1`,
    [connection],
  );
  return Object.fromEntries(rows.map(({ id, base, leads, rows: absences }) => [id, [base, leads, absences]]));
}

describe('what a scan proves by itself', () => {
  test('equal sides are in step, every lead is known, nothing else has a baseline', async () => {
    const here = scene();
    const run = await here.scan({ same: acme, edited: acme, alone: acme }, [
      ['same', acme],
      ['edited', won],
      ['orphan', acme],
    ]);
    await here.adopt(run);
    expect(await pairsOf(here)).toEqual({
      same: [acme, 0, 0],
      edited: [null, 0, 0],
      alone: [null, 0, 1],
    });
  });

  test('a baseline moves with two sides that were edited alike, and stays when only one was', async () => {
    const here = scene();
    const bases = ['both', 'lead', 'row'].map((leadId) => ({ leadId, values: acme }));
    await advanceBaselines(here.pool, here.connection, bases);
    const run = await here.scan({ both: won, lead: won, row: acme }, [
      ['both', won],
      ['lead', acme],
      ['row', won],
    ]);
    await here.adopt(run);
    expect(await pairsOf(here)).toEqual({ both: [won, 0, 0], lead: [acme, 0, 0], row: [acme, 0, 0] });
  });

  test('a copy of a row proves nothing', async () => {
    const here = scene();
    const run = await here.scan({ a: acme }, [
      ['a', won],
      ['a', acme],
    ]);
    await here.adopt(run);
    expect(await pairsOf(here)).toEqual({ a: [null, 0, 0] });
  });

  test('a field whose column is missing keeps its baseline, also when the lead is empty there', async () => {
    const here = scene();
    await advanceBaselines(here.pool, here.connection, [{ leadId: 'a', values: acme }]);
    const run = await here.scan({ a: { companyName: 'Acme', stage: null } }, [
      ['a', { companyName: 'Acme' }],
    ]);
    await here.adopt(run);
    expect(await pairsOf(here)).toEqual({ a: [acme, 0, 0] });
  });

  test('the same scan taken over twice changes nothing', async () => {
    const here = scene();
    await advanceBaselines(here.pool, here.connection, [{ leadId: 'gone', values: acme }]);
    const run = await here.scan({ same: acme, alone: acme }, [['same', acme]]);
    await here.adopt(run);
    const once = await pairsOf(here);
    await here.adopt(run);
    expect(await pairsOf(here)).toEqual(once);
    expect(once).toMatchObject({ gone: [acme, 1, 1], alone: [null, 0, 1] });
  });

  test('after all pairs were forgotten and vacuumed away, none of those that come back is looked up by reading all of them', async () => {
    const here = scene();
    const ids = Array.from({ length: 100 }, (_, nth) => `lead ${nth}`);
    const run = await here.scan(
      Object.fromEntries(ids.map((id) => [id, acme])),
      ids.map((id) => [id, acme]),
    );
    await here.pool.query('delete from pairs');
    await here.pool.query('vacuum (analyze) pairs');
    await transaction(here.pool, async (client) => {
      expect(await adoptScan(client, run, run.scan, true, new Set())).toBe(ids.length);
      const { rows } = await client.query<{ scans: number }>(
        `select seq_scan as scans from pg_stat_xact_user_tables where relid = 'pairs'::regclass`,
      );
      expect(rows[0]?.scans).toBeLessThan(10);
    });
  });

  test('other connections stay as they are', async () => {
    const [here, other] = [scene(), scene()];
    await advanceBaselines(other.pool, other.connection, [{ leadId: 'a', values: acme }]);
    await here.adopt(await here.scan({ a: won }, [['a', won]]));
    expect(await pairsOf(other)).toEqual({ a: [acme, 0, 0] });
  });
});

describe('absences', () => {
  const seen = (difference: { leadAbsences: number; rowAbsences: number } | undefined) => [
    difference?.leadAbsences,
    difference?.rowAbsences,
  ];

  test('are counted once for each run, one after the other', async () => {
    const here = scene();
    await advanceBaselines(here.pool, here.connection, [{ leadId: 'gone', values: acme }]);
    for (const times of [1, 2, 3]) {
      const run = await here.scan({ other: acme }, [['other', acme]]);
      expect(seen((await here.differences(run))[0])).toEqual([times, times]);
      await here.adopt(run);
      // Looked at again, in the same run or in its next round, it is the same absence.
      expect(seen((await here.differences(run))[0])).toEqual([times, times]);
      const again = await here.see(await nextRound(here.pool, run.id), { other: acme }, [['other', acme]]);
      expect(seen((await here.differences(again))[0])).toEqual([times, times]);
      await here.adopt(again);
      expect(await pairsOf(here)).toMatchObject({ gone: [acme, times, times] });
    }
  });

  test.each<[string, { leads: boolean; rows: boolean }, readonly [number, number]]>([
    ['both sides', { leads: true, rows: true }, [1, 1]],
    ['the rows alone', { leads: false, rows: true }, [0, 1]],
    ['the leads alone', { leads: true, rows: false }, [1, 0]],
    ['neither', { leads: false, rows: false }, [0, 0]],
  ])('count where the scan is proof: %s', async (_, isProof, expected) => {
    const here = scene();
    await advanceBaselines(here.pool, here.connection, [{ leadId: 'gone', values: acme }]);
    const run = await here.scan({}, []);
    const known = { ...isProof, answers: isProof.leads, rowsAlone: true, at: 0, proveAfter: 0 };
    expect(seen((await here.differences(run, known))[0])).toEqual(expected);
    await here.adopt(run, known);
    expect(await pairsOf(here)).toEqual({ gone: [acme, ...expected] });
  });

  test('begin anew when the id was seen again', async () => {
    const here = scene();
    await advanceBaselines(here.pool, here.connection, [{ leadId: 'a', values: acme }]);
    await here.adopt(await here.scan({}, []));
    await here.adopt(await here.scan({ a: acme }, []));
    expect(await pairsOf(here)).toEqual({ a: [acme, 0, 2] });
    await here.adopt(await here.scan({ a: acme }, [['a', acme]]));
    expect(await pairsOf(here)).toEqual({ a: [acme, 0, 0] });
  });

  test('begin anew as well when it was seen again in a later round of the same run', async () => {
    const here = scene();
    await advanceBaselines(here.pool, here.connection, [{ leadId: 'a', values: acme }]);
    const run = await here.scan({}, []);
    await here.adopt(run);
    const again = await here.see(await nextRound(here.pool, run.id), { a: acme }, [['a', acme]]);
    await here.adopt(again);
    expect(await pairsOf(here)).toEqual({ a: [acme, 0, 0] });
  });

  test('a later round whose scan is proof counts where the earlier one was none', async () => {
    const here = scene();
    await advanceBaselines(here.pool, here.connection, [{ leadId: 'a', values: acme }]);
    const run = await here.scan({}, []);
    await here.adopt(run, {
      leads: false,
      rows: false,
      answers: false,
      rowsAlone: true,
      at: 0,
      proveAfter: 0,
    });
    const again = await here.see(await nextRound(here.pool, run.id), {}, []);
    await here.adopt(again);
    // One run counts at most once; that it counts the first look is on the safe side.
    expect(await pairsOf(here)).toEqual({ a: [acme, 0, 0] });
  });
});

describe('the baseline', () => {
  test('moves field by field, several moves of one lead together, the last one last', async () => {
    const here = scene();
    await advanceBaselines(here.pool, here.connection, [
      { leadId: 'a', values: { companyName: 'Acme', stage: 'new' } },
      { leadId: 'b', values: { stage: 'x' } },
    ]);
    await advanceBaselines(here.pool, here.connection, [
      { leadId: 'a', values: { stage: 'won' } },
      { leadId: 'a', values: { city: 'Bonn', stage: null } },
    ]);
    expect(await basesOf(here.pool, here.connection, ['a', 'b', 'nobody'])).toEqual(
      new Map<string, unknown>([
        ['a', { companyName: 'Acme', stage: null, city: 'Bonn' }],
        ['b', { stage: 'x' }],
      ]),
    );
  });

  test('moves with the place of a row that was just written, which is not missed any more', async () => {
    const here = scene();
    const run = await here.scan({ a: acme, b: acme }, []);
    await here.adopt(run);
    await advanceBaselines(here.pool, here.connection, [
      { leadId: 'a', values: { stage: 'new' }, row: 7 },
      { leadId: 'a', values: { companyName: 'Acme' } },
      { leadId: 'b', values: acme },
    ]);
    expect(await pairsOf(here)).toEqual({ a: [acme, 0, 0], b: [acme, 0, 1] });
    const { rows } = await here.pool.query<{ row: number | null }>(
      `select row_number as row from pairs where connection = $1 order by lead_id`,
      [here.connection],
    );
    expect(rows.map(({ row }) => row)).toEqual([7, null]);
  });

  test('begins with the first move of a lead that was only known', async () => {
    const here = scene();
    await here.adopt(await here.scan({ a: acme }, []));
    expect(await basesOf(here.pool, here.connection, ['a'])).toEqual(new Map());
    await advanceBaselines(here.pool, here.connection, [{ leadId: 'a', values: { stage: 'new' } }]);
    expect(await basesOf(here.pool, here.connection, ['a'])).toEqual(new Map([['a', { stage: 'new' }]]));
  });

  test('whoever makes a pair keeps how an id is compared that the service spells otherwise', async () => {
    const here = scene();
    const idOf = (end: string): string => `018c2f3a-0000-7000-8000-00000000000${end}`;
    const ids = ['A', 'B', 'C', 'D'].map((end) => idOf(end).toUpperCase());
    const [agreed = '', met = '', made = '', listed = ''] = ids;
    await advanceBaselines(here.pool, here.connection, [{ leadId: agreed, values: acme }]);
    await here.adopt(await here.scan({ [met]: acme, plain: acme }, []));
    await transaction(here.pool, (db) =>
      copyPairs(db, here.connection, [
        { leadId: made, base: acme, row: 2 },
        { leadId: idOf('e'), base: acme, row: 3 },
      ]),
    );
    const run = await here.scan({}, []);
    const missed = { run: run.id, lead: 0, row: 1, since: null };
    await moveBaselines(here.pool, here.connection, [{ to: 'known', leadId: listed, missed }]);
    const all = await loadSpellings(here.pool, here.connection);
    expect([...all.values()].toSorted()).toEqual(ids);
    const typed = ['a', 'd', 'e', 'f'].map(idOf);
    expect(await loadSpellings(here.pool, here.connection, typed)).toEqual(
      new Map([
        [idOf('a'), agreed],
        [idOf('d'), listed],
      ]),
    );
  });

  test('no moves are no change', async () => {
    const here = scene();
    await advanceBaselines(here.pool, here.connection, []);
    expect(await pairsOf(here)).toEqual({});
  });
});

describe('deleted leads', () => {
  test('are remembered, are no known pairs any more, and are known again when they come back', async () => {
    const here = scene();
    const values = acme;
    await advanceBaselines(here.pool, here.connection, [
      { leadId: 'a', values },
      { leadId: 'b', values },
    ]);
    expect((await here.scan({}, [])).scan.inStep()).toBe(2);
    await moveBaselines(here.pool, here.connection, [
      { to: 'lead-deleted', leadId: 'a' },
      { to: 'lead-deleted', leadId: 'nobody' },
    ]);
    expect(await listDeleted(here.pool, here.connection)).toEqual(['a']);
    expect((await here.scan({}, [])).scan.inStep()).toBe(1);
    const run = await here.scan({ b: acme }, [
      ['a', acme],
      ['b', acme],
    ]);
    expect(await here.differences(run)).toMatchObject([{ leadId: 'a', deletionDone: true }]);
    await here.adopt(run);
    expect(await listDeleted(here.pool, here.connection)).toEqual(['a']);

    await here.adopt(await here.scan({ a: won, b: acme }, [['a', acme]]));
    expect(await listDeleted(here.pool, here.connection)).toEqual([]);
    expect((await here.scan({}, [])).scan.inStep()).toBe(2);
  });

  test('leads that were never in step are no known pairs', async () => {
    const here = scene();
    await here.adopt(await here.scan({ a: acme }, []));
    expect((await here.scan({}, [])).scan.inStep()).toBe(0);
  });

  test('are forgotten one by one', async () => {
    const [here, other] = [scene(), scene()];
    for (const { pool, connection } of [here, other]) {
      await advanceBaselines(pool, connection, [
        { leadId: 'a', values: acme },
        { leadId: 'b', values: acme },
      ]);
    }
    await moveBaselines(here.pool, here.connection, [{ to: 'forgotten', leadId: 'a' }]);
    expect(Object.keys(await pairsOf(here))).toEqual(['b']);
    expect(Object.keys(await pairsOf(other)).toSorted()).toEqual(['a', 'b']);
  });
});
