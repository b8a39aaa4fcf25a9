import {
  type ActionKind,
  actionKinds,
  fingerprint,
  type PlannedAction,
} from '../../../src/core/merge/action.ts';
import { describe, expect, test } from 'vitest';
import {
  type Action,
  beginAttempts,
  clearActions,
  countActions,
  countAttempts,
  insertActions,
  openActions,
  recordOutcomes,
  troubledActions,
  visibleActions,
  writtenCells,
} from '../../../src/store/actions.ts';
import { history, recordHistory } from '../../../src/store/history.ts';
import { useScenes } from './store-scene.ts';

const scene = useScenes();

function action(kind: ActionKind, known: Partial<PlannedAction> = {}): PlannedAction {
  return { kind, leadId: 'a', row: 7, contentHash: '', changes: {}, expect: {}, reason: 'why', ...known };
}

describe('a plan', () => {
  test('is read as it was stored, in its order', async () => {
    const here = scene();
    const run = await here.run();
    const changes = {
      stage: { from: 'new', to: 'won', base: null, rule: 'row-edited' },
      city: { from: { unreadable: '?' }, to: null },
    } as const;
    const first = action('update-lead', {
      changes,
      expect: { stage: 'new', city: { unreadable: '?' } },
      message: 'm',
    });
    const second = action('link', { leadId: null, row: null, contentHash: 'k' });
    await insertActions(here.pool, run, [first, { ...second, intentId: 17 }]);
    expect(await visibleActions(here.pool, run)).toEqual([
      {
        ...first,
        id: expect.any(Number),
        state: 'planned',
        attempts: 0,
        intentId: null,
        isBegun: false,
        fingerprint: fingerprint(first),
      },
      {
        ...second,
        id: expect.any(Number),
        message: null,
        state: 'planned',
        attempts: 0,
        intentId: 17,
        isBegun: false,
        fingerprint: fingerprint(second),
      },
    ]);
  });

  test('shows what people see: all but what only keeps the books', async () => {
    const here = scene();
    const run = await here.run();
    await insertActions(
      here.pool,
      run,
      actionKinds.map((kind) => action(kind)),
    );
    expect((await visibleActions(here.pool, run)).map(({ kind }) => kind)).toEqual(actionKinds.slice(0, 10));
  });

  test('is made anew for a round, the other rounds and runs stay', async () => {
    const [here, other] = [scene(), scene()];
    const run = await here.run();
    const second = { ...run, round: 2 };
    const foreign = await other.run();
    for (const round of [run, second, foreign]) await insertActions(here.pool, round, [action('update-row')]);
    await clearActions(here.pool, second);
    expect(await visibleActions(here.pool, second)).toEqual([]);
    expect(await visibleActions(here.pool, run)).toHaveLength(1);
    expect(await visibleActions(here.pool, foreign)).toHaveLength(1);
  });
});

async function batchesOf<T>(all: AsyncIterable<T>): Promise<readonly T[]> {
  const batches: T[] = [];
  for await (const batch of all) batches.push(batch);
  return batches;
}

async function pending(...given: Parameters<typeof openActions>): Promise<readonly Action[]> {
  return (await batchesOf(openActions(...given))).flat();
}

describe('what is still to be done', () => {
  test('comes oldest first, by kind, in portions, and leaves out what was settled', async () => {
    const here = scene();
    const run = await here.run();
    const kinds: readonly ActionKind[] = ['update-lead', 'create-lead'];
    const leadIds = ['a', 'b', 'c', 'd', 'e'];
    await insertActions(here.pool, run, [
      ...leadIds.map((leadId) => action('update-lead', { leadId })),
      action('update-row', { leadId: 'row' }),
      action('create-lead', { leadId: null }),
    ]);
    const all = await pending(here.pool, run, kinds);
    expect(all.map(({ leadId }) => leadId)).toEqual([...leadIds, null]);
    const states = ['done', 'deferred', 'held', 'proven'] as const;
    const outcomes = all
      .slice(0, 4)
      .map(({ id }, index) => ({ actionId: id, state: states[index] ?? 'done' }));
    await recordOutcomes(here.pool, outcomes);
    const left = await pending(here.pool, run, kinds);
    // A deletion that was proven is still to be carried out.
    expect(left.map(({ leadId, state }) => [leadId, state])).toEqual([
      ['d', 'proven'],
      ['e', 'planned'],
      [null, 'planned'],
    ]);
    const batches = await batchesOf(openActions(here.pool, run, kinds, 2));
    expect(batches.map((batch) => batch.length)).toEqual([2, 1]);
    expect(await pending(here.pool, { ...run, round: 2 }, kinds)).toEqual([]);
  });

  test('is begun in portions, counts its tries, and takes back those that were none', async () => {
    const here = scene();
    const run = await here.run();
    await insertActions(here.pool, run, [action('update-lead'), action('update-lead'), action('link')]);
    const begin = async (limit: number) =>
      (await beginAttempts(here.pool, run, ['update-lead'], limit)).map(({ id, attempts }) => ({
        id,
        attempts,
      }));
    const [first] = await begin(1);
    expect(await begin(5)).toEqual([{ ...first, attempts: 1 }, expect.objectContaining({ attempts: 0 })]);
    await countAttempts(here.pool, [{ id: first?.id ?? 0 }], -1);
    expect(await begin(1)).toEqual([{ ...first, attempts: 1 }]);
    await recordOutcomes(here.pool, [{ actionId: first?.id ?? 0, state: 'deferred' }]);
    expect(await begin(5)).toEqual([expect.objectContaining({ attempts: 1 })]);
  });
});

describe('what became of a plan', () => {
  test('is counted by kind, state, reason and round', async () => {
    const here = scene();
    const run = await here.run();
    await insertActions(here.pool, run, [
      action('update-row'),
      action('update-row'),
      action('update-row', { reason: 'other' }),
    ]);
    await insertActions(here.pool, { ...run, round: 2 }, [action('update-row')]);
    const [first] = await pending(here.pool, run, ['update-row']);
    await recordOutcomes(here.pool, [{ actionId: first?.id ?? 0, state: 'done' }]);
    const one = { kind: 'update-row', reason: 'why', round: 1, count: 1 };
    const counts = await countActions(here.pool, run.id);
    expect(counts).toHaveLength(4);
    expect(counts).toEqual(
      expect.arrayContaining([
        { ...one, state: 'done' },
        { ...one, state: 'planned' },
        { ...one, state: 'planned', reason: 'other' },
        { ...one, state: 'planned', round: 2 },
      ]),
    );
  });

  test('troubles are what was put off and what is only told, with the words of the outcome first', async () => {
    const here = scene();
    const run = await here.run();
    const change = { from: 'a', to: 'b' };
    await insertActions(here.pool, run, [
      action('update-lead', { changes: { stage: change, city: change }, message: 'planned' }),
      action('report', { leadId: null, reason: 'row.without-id', message: 'told' }),
      action('update-row'),
      action('update-row', { leadId: 'done' }),
    ]);
    const all = await visibleActions(here.pool, run);
    const [lead, row, done] = all.map(({ id }) => id);
    await recordOutcomes(here.pool, [
      { actionId: lead ?? 0, state: 'deferred', code: 'lead.changed', message: 'changed since' },
      { actionId: row ?? 0, state: 'deferred' },
      { actionId: done ?? 0, state: 'done', code: 'x', message: 'y' },
    ]);
    const troubles = await troubledActions(here.pool, run, 10);
    expect(troubles.map(({ fields, ...trouble }) => ({ ...trouble, fields: fields.toSorted() }))).toEqual([
      { code: 'lead.changed', message: 'changed since', leadId: 'a', row: 7, fields: ['city', 'stage'] },
      { code: 'row.without-id', message: 'told', leadId: null, row: 7, fields: [] },
      { code: 'why', message: 'why', leadId: 'a', row: 7, fields: [] },
    ]);
    expect(await troubledActions(here.pool, run, 1)).toHaveLength(1);
  });
});

describe('the history', () => {
  test('keeps both values of each field that was written, and the baseline they differed from', async () => {
    const here = scene();
    const run = await here.run();
    const [one = 0, two = 0, three = 0] = await here.actions(run, 3);
    await recordHistory(here.pool, [
      {
        actionId: one,
        leadId: 'a',
        changes: {
          stage: { from: 'mine', to: 'theirs', base: 'new', rule: 'leads-win' },
          city: { from: { unreadable: '?' }, to: null, base: null, rule: 'resolved' },
        },
      },
      { actionId: two, leadId: 'b', changes: { stage: { from: null, to: 'x' } } },
      { actionId: three, leadId: 'c', changes: {} },
    ]);
    const { rows } = await here.pool.query(
      `select lead_id, field, side, base, base is null as unknown, before, after, rule from ${history} h where connection = $1 order by id`,
      [here.connection],
    );
    expect(rows).toEqual([
      {
        lead_id: 'a',
        field: 'stage',
        side: 'lead',
        base: 'new',
        unknown: false,
        before: 'mine',
        after: 'theirs',
        rule: 'leads-win',
      },
      {
        lead_id: 'a',
        field: 'city',
        side: 'lead',
        base: null,
        unknown: false,
        before: { unreadable: '?' },
        after: null,
        rule: 'resolved',
      },
      {
        lead_id: 'b',
        field: 'stage',
        side: 'lead',
        base: null,
        unknown: true,
        before: null,
        after: 'x',
        rule: 'lead-edited',
      },
    ]);
  });
});

test('what is written is the new value of each change', () => {
  expect(writtenCells({ stage: { from: 'a', to: 'b' }, city: { from: 'a', to: null } })).toEqual({
    stage: 'b',
    city: null,
  });
});
