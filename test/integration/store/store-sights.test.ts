import { describe, expect, test } from 'vitest';
import { LooseRows, memoOf } from '../../../src/core/merge/difference.ts';
import { decideConflict, listConflicts, recordConflicts } from '../../../src/store/conflicts.ts';
import { advanceBaselines } from '../../support/advance-baselines.ts';
import { scannedLeadCells, unknownLeads, wantedRows } from '../../../src/store/differences.ts';
import { logLeads, sightedLeads, storeSights } from '../../../src/store/run-sights.ts';
import { sight } from '../../unit/sight.ts';
import { useScenes } from './store-scene.ts';

const scene = useScenes();
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
    const seen = { leadId: 'edited', isKnown: false, base: null, lead: acme, row: won, rowNumber: 3 };
    expect(found[1]).toEqual({ ...sight, ...seen, isWanted: false });
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
  test('the last sight of an id wins, and which were seen before is told, also by the next process', async () => {
    const here = scene();
    const run = await here.run();
    expect(await here.seeLeads(run, { a: acme, b: acme }, await here.live(run))).toEqual([]);
    expect(await here.seeLeads(run, { b: won, c: acme }, await here.live(run))).toEqual(['b']);
    const live = await here.live(run);
    expect(await here.seeLeads(run, {}, live)).toEqual([]);
    expect([...live.leads()]).toEqual(['a', 'b', 'c']);
    expect(await scannedLeadCells(here.pool, run, live, ['b', 'c', 'nobody'])).toEqual(
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

  test('what leads showed that were asked for by their ids is known to the next process', async () => {
    const here = scene();
    const run = await here.run();
    const live = await here.live(run);
    const gone = { answer: 'gone', message: null } as const;
    live.answer('x', gone);
    live.answer('A', { answer: 'shown', message: null });
    live.correctLead('A', won);
    await logLeads(here.pool, run.id, live.takeLeads([]));
    const next = await here.live(run);
    expect([next.asked('x'), next.askedIds, next.lead('A')]).toEqual([gone, ['x', 'A'], won]);
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
    const loose = [...run.scan.rows.loose()];
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
    const [first] = run.scan.rows.loose();
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
      return [...run.scan.rows.loose()].map((row) => loose.see(row).isWanted);
    };
    expect(await wanted()).toEqual([false, false, false]);
    const [held] = await listConflicts(here.pool, run.connection);
    if (held === undefined) throw new Error('nothing is held');
    await decideConflict(here.pool, held, 'target', 'anna');
    expect(await wanted()).toEqual([true, false, false]);
  });
});

test('unknown leads are those that no earlier scan of the connection showed', async () => {
  const [here, other] = [scene(), scene()];
  await here.adopt(await here.scan({ old: acme }, []));
  await other.adopt(await other.scan({ new2: acme }, []));
  const run = await here.scan({ old: won, new2: acme, new1: won }, []);
  expect(
    await unknownLeads(here.pool, run, run.scan, { baseUrl: 'http://127.0.0.1:1', account: 'a' }),
  ).toEqual([
    { id: 'new1', cells: won, knownSince: null },
    { id: 'new2', cells: acme, knownSince: null },
  ]);
});

test('what leads showed is found again after the plan, among very many and whatever their ids; else it is what is agreed on', async () => {
  const here = scene();
  await advanceBaselines(here.pool, here.connection, [
    { leadId: 'agreed', values: acme },
    { leadId: 'gone', values: acme },
  ]);
  const odd = ['A', 'a', 'Zebra', 'zebra', 'é', 'ﬁ', '😀', '-'];
  const many = [...odd, ...Array.from({ length: 1_200 }, (_, nth) => `lead ${nth}`)];
  const run = await here.scan({ agreed: acme, ...Object.fromEntries(many.map((id) => [id, won])) }, [
    ['agreed', acme],
    ['gone', won],
  ]);
  await storeSights(here.pool, run.id, run.scan);
  const found = await sightedLeads(here.pool, run, [...many, 'agreed', 'gone', 'nobody']);
  expect(found.get('agreed')).toEqual(acme);
  expect([found.has('gone'), found.has('nobody')]).toEqual([false, false]);
  expect(many.filter((id) => found.get(id)?.['stage'] !== 'won')).toEqual([]);
  for (const id of odd) expect((await sightedLeads(here.pool, run, [id])).get(id), id).toEqual(won);
});
