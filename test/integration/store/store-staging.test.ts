import { describe, expect, test } from 'vitest';
import { hashId } from '../../../src/core/lead/id-set.ts';
import { idKey } from '../../../src/core/lead/lead.ts';
import { LooseRows, memoOf } from '../../../src/core/merge/difference.ts';
import { decideConflict, listConflicts, recordConflicts } from '../../../src/store/conflicts.ts';
import { advanceBaselines } from '../../../src/store/baselines.ts';
import { looseRows, scannedLeadCells, unknownLeads, wantedRows } from '../../../src/store/differences.ts';
import { respellRows, storeSpellings } from '../../../src/store/lead-spellings.ts';
import { stageRows } from '../../../src/store/staging.ts';
import { clearStagedRows, type Run } from '../../../src/store/runs.ts';
import { logLeads } from '../../../src/store/scan-log.ts';
import { collect, type Scene, stagedCounts, useScenes } from './store-scene.ts';

const scene = useScenes();
const staging = { isWhole: true, usualStatus: null, isSpelled: true };
const acme = { companyName: 'Acme', stage: 'new' };
const won = { companyName: 'Acme', stage: 'won' };
const soon = { unreadable: 'soon' };

describe('differences', () => {
  test('are the ids on which the two sides do not show the same, in their order', async () => {
    const here = scene();
    const run = await here.scan(
      {
        same: acme,
        edited: acme,
        'only-lead': acme,
        'b-lead': acme,
        forms: { companyName: 'e\u0301', stage: null },
      },
      [
        ['same', acme],
        ['edited', won],
        ['only-row', acme],
        ['forms', { companyName: '\u00e9', stage: '' }],
        [null, acme],
      ],
    );
    const found = await here.differences(run);
    expect(found.map(({ leadId }) => leadId)).toEqual(['b-lead', 'edited', 'only-lead', 'only-row']);
    expect(found[1]).toEqual({
      leadId: 'edited',
      isKnown: false,
      base: null,
      asked: null,
      isSame: false,
      lead: acme,
      row: won,
      rowNumber: 3,
      missed: { lead: false, row: false },
      leadAbsences: 0,
      rowAbsences: 0,
      isCounted: false,
      deletionDone: false,
      merged: null,
      isCopied: false,
      isWanted: false,
      held: [],
    });
    expect(found[2]).toMatchObject({ lead: acme, row: null, rowNumber: null });
    expect(found[3]).toMatchObject({ lead: null, row: acme, rowNumber: 4 });
  });

  test('a cell that cannot be read is always one, also when the other side has the same text', async () => {
    const here = scene();
    const cells = { companyName: 'Acme', stage: soon };
    const run = await here.scan({ a: cells, b: acme, c: cells }, [
      ['a', cells],
      ['b', cells],
      ['c', acme],
    ]);
    expect((await here.differences(run)).map(({ leadId }) => leadId)).toEqual(['a', 'b', 'c']);
  });

  test('a pair that is known and missed by both sides is one', async () => {
    const here = scene();
    await advanceBaselines(here.pool, here.connection, [{ leadId: 'gone', values: acme }]);
    const run = await here.scan({ other: acme }, [['other', acme]]);
    expect(await here.differences(run)).toMatchObject([
      { leadId: 'gone', base: acme, lead: null, row: null },
    ]);
  });

  test('the row of a lead is the first one with its id', async () => {
    const here = scene();
    const run = await here.scan({ a: acme, b: acme }, [
      ['a', won],
      ['a', acme],
      ['b', acme],
      ['b', won],
    ]);
    expect(await here.differences(run)).toMatchObject([{ leadId: 'a', row: won, rowNumber: 2 }]);
  });

  test('say what was remembered of each field, and of no other connection or record', async () => {
    const here = scene();
    const other = scene();
    const run = await here.scan({ a: acme }, [['a', won]]);
    const item = { leadId: 'a', contentHash: '', row: 2, message: 'm', lead: 'new', rowValue: 'won' };
    await recordConflicts(here.pool, { ...run, round: 1 }, [
      { ...item, field: 'stage', code: 'lead.field-refused' },
      { ...item, field: 'companyName', code: 'conflict.both-edited', lead: null, rowValue: soon },
      { ...item, field: '', code: 'row.refused' },
    ]);
    await recordConflicts(here.pool, { ...run, connection: other.connection, round: 1 }, [
      { ...item, field: 'city', code: 'conflict.both-edited' },
    ]);
    await here.pool.query(
      `update held set resolution = 'lead' where connection = $1 and field = 'companyName'`,
      [here.connection],
    );
    const [difference] = await here.differences(run);
    if (difference === undefined) throw new Error('there is none');
    const memo = memoOf(difference, { companyName: null, stage: 'new' }, { companyName: soon, stage: 'won' });
    expect(memo).toEqual({
      stage: { resolution: null, refused: true, covered: false, putBack: null },
      companyName: { resolution: 'lead', refused: false, covered: false, putBack: null },
    });
  });

  test('thousands come one after the other', async () => {
    const here = scene();
    const ids = Array.from({ length: 2345 }, (_, index) => `lead-${String(index).padStart(5, '0')}`);
    const run = await here.scan(Object.fromEntries(ids.toReversed().map((id) => [id, acme])), []);
    expect((await here.differences(run)).map(({ leadId }) => leadId)).toEqual(ids);
  });

  test('stay within their run and their connection', async () => {
    const [here, other] = [scene(), scene()];
    const mine = await here.scan({ a: acme }, []);
    await other.scan({ b: acme }, [['c', acme]]);
    await advanceBaselines(other.pool, other.connection, [{ leadId: 'd', values: acme }]);
    expect((await here.differences(mine)).map(({ leadId }) => leadId)).toEqual(['a']);
  });
});

describe('a page of leads', () => {
  test('the last sight of an id wins, and which were seen before is told', async () => {
    const here = scene();
    const run = await here.run();
    const live = await here.live(run);
    expect(await here.stageLeads(run, { a: acme, b: acme }, live)).toEqual([]);
    expect(await here.stageLeads(run, { b: won, c: acme }, live)).toEqual(['b']);
    expect(await here.stageLeads(run, {}, live)).toEqual([]);
    expect(await stagedCounts(here.pool, run.id)).toEqual({ leads: 3, rows: 0 });
    expect(await scannedLeadCells(here.pool, run.id, ['b', 'c', 'nobody'])).toEqual(
      new Map([
        ['b', won],
        ['c', acme],
      ]),
    );
  });

  test('a cursor is used once in a run, whichever process takes it up', async () => {
    const here = scene();
    const run = await here.run();
    const live = await here.live(run);
    expect(live.useCursors(['x'])).toBe(true);
    expect(live.useCursors(['y'])).toBe(true);
    await logLeads(here.pool, run.id, live.takeLeads(['x', 'y']));
    expect(live.useCursors(['x'])).toBe(false);
    expect((await here.live(run)).useCursors(['z', 'x'])).toBe(false);
    const other = scene();
    expect((await other.live(await other.run())).useCursors(['x'])).toBe(true);
  });

  test('new leads that were stored together are known to the next process', async () => {
    const here = scene();
    const run = await here.run();
    expect(await here.stageLeads(run, { a: acme, b: acme }, await here.live(run), true)).toEqual([]);
    expect(await stagedCounts(here.pool, run.id)).toEqual({ leads: 0, rows: 0 });
    expect(await here.stageLeads(run, { b: won, c: acme }, await here.live(run), true)).toEqual(['b']);
    expect(await stagedCounts(here.pool, run.id)).toEqual({ leads: 1, rows: 0 });
  });
});

describe('rows that no lead id names', () => {
  test('are those without id and the further ones with an id, in the order of the target', async () => {
    const here = scene();
    const run = await here.scan({ a: acme }, [
      [null, won],
      ['a', acme],
      ['a', won],
      [null, acme],
      ['a', acme],
      ['orphan', acme],
    ]);
    const loose = await collect(looseRows(here.pool, run));
    expect(loose.map(({ row, leadId }) => [row, leadId])).toEqual([
      [2, null],
      [4, 'a'],
      [5, null],
      [6, 'a'],
    ]);
  });

  test('say what a person decided on exactly this row', async () => {
    const here = scene();
    const run = await here.scan({}, [
      [null, acme],
      [null, won],
      [null, acme],
    ]);
    const [first] = await collect(looseRows(here.pool, run));
    const item = {
      leadId: null,
      contentHash: first?.contentHash ?? '',
      field: '',
      row: 2,
      lead: null,
      rowValue: null,
    };
    await recordConflicts(here.pool, { ...run, round: 1 }, [
      { ...item, code: 'lead.create-refused', message: 'said no' },
    ]);
    const wanted = async () => {
      const loose = new LooseRows(await wantedRows(here.pool, run.connection), new Set());
      return (await collect(looseRows(here.pool, run))).map((row) => loose.see(row).isWanted);
    };
    expect(await wanted()).toEqual([false, false, false]);
    const [held] = await listConflicts(here.pool, run.connection);
    if (held === undefined) throw new Error('nothing is held');
    await decideConflict(here.pool, held, 'target', 'anna');
    expect(await wanted()).toEqual([true, false, false]);
  });

  test('are read anew after they were cleared', async () => {
    const here = scene();
    const run = await here.scan({ a: acme }, [['a', acme]]);
    await clearStagedRows(here.pool, run.id);
    expect(await stagedCounts(here.pool, run.id)).toEqual({ leads: 1, rows: 0 });
    await here.stage(run, {}, [
      ['a', acme],
      [null, acme],
    ]);
    expect(await stagedCounts(here.pool, run.id)).toEqual({ leads: 1, rows: 2 });
  });
});

test('unknown leads are those that no earlier scan of the connection showed', async () => {
  const [here, other] = [scene(), scene()];
  await here.adopt(await here.scan({ old: acme }, []));
  await other.adopt(await other.scan({ new2: acme }, []));
  const run = await here.scan({ old: won, new2: acme, new1: won }, []);
  expect(await unknownLeads(here.pool, run, { baseUrl: 'http://127.0.0.1:1', account: 'a' })).toEqual([
    { id: 'new1', cells: won, knownSince: null },
    { id: 'new2', cells: acme, knownSince: null },
  ]);
});

describe('rows with ids that are no pairs', () => {
  // Different ids with one 53-bit hash.
  const [one, other] = ['0hoducygqnb', '4kc5nbxvhkb'];

  test.each([
    ['in one batch', [[one, other, one]]],
    ['in several batches', [[one], [other], [one]]],
  ])('are copies of one another only when the ids are the same, %s', async (_, batches) => {
    expect(hashId(one)).toBe(hashId(other));
    const here = scene();
    const run = await here.run();
    const live = await here.live(run);
    let ordinal = 0;
    for (const ids of batches) {
      const rows = ids.map((leadId) => ({
        ordinal: ordinal++,
        row: ordinal + 1,
        leadId,
        cells: acme,
        status: null,
      }));
      await stageRows(here.pool, run, rows, staging, live);
    }
    const { rows: staged } = await here.pool.query(
      `select lead_id as "leadId", duplicate from staged_rows where run_id = $1 order by ordinal`,
      [run.id],
    );
    expect(staged).toEqual([
      { leadId: one, duplicate: false },
      { leadId: other, duplicate: false },
      { leadId: one, duplicate: true },
    ]);
  });
});

describe('ids that the service spells otherwise', () => {
  const ids = Array.from({ length: 50 }, (_, nth) => `AAAAAAAA-0000-4000-8000-0000000000${10 + nth}`);
  const [one = '', other = ''] = ids;
  const rowOf = (leadId: string, nth: number) => {
    return { ordinal: nth, row: nth + 2, leadId: idKey(leadId), cells: acme, status: null };
  };
  const staged = async ({ pool }: Scene, { id }: Run) => {
    const text = `select lead_id as "leadId", duplicate from staged_rows where run_id = $1 order by ordinal`;
    return (await pool.query(text, [id])).rows;
  };

  test('are loaded for the rows of a batch alone', async () => {
    const here = scene();
    const run = await here.run();
    await storeSpellings(here.pool, here.connection, ids);
    const sizes: number[] = [];
    const query = async (text: string, values: unknown[]) => {
      const found = await here.pool.query<object>(text, values);
      if (text.includes('lead_spellings')) sizes.push(found.rows.length);
      return found;
    };
    await stageRows({ query } as never, run, [rowOf(one, 0), rowOf(other, 1)], staging, await here.live(run));
    expect(sizes).toEqual([2]);
    expect(await staged(here, run)).toEqual([
      { leadId: one, duplicate: false },
      { leadId: other, duplicate: false },
    ]);
  });

  test('that become known while the rows are read make no second row of a copy', async () => {
    const here = scene();
    const run = await here.run();
    const live = await here.live(run);
    await stageRows(here.pool, run, [rowOf(one, 0)], staging, live);
    await storeSpellings(here.pool, here.connection, [one]);
    await stageRows(here.pool, run, [rowOf(one, 1)], staging, live);
    expect(await respellRows(here.pool, run)).toEqual([one]);
    expect(await staged(here, run)).toEqual([
      { leadId: one, duplicate: false },
      { leadId: one, duplicate: true },
    ]);
  });
});
