import {
  type Conflict,
  conflictsOf,
  countConflicts,
  decideConflict,
  holdRemaining,
  listConflicts,
  listDecisions,
  recordConflicts,
  recordPlannedConflicts,
} from '../../../src/store/conflicts.ts';
import { describe, expect, test } from 'vitest';
import { charactersIn, mostTogether } from '../../../src/core/lead/text-size.ts';
import type { PlannedAction } from '../../../src/core/merge/action.ts';
import { insertActions } from '../../../src/store/actions.ts';
import type { NewConflict } from '../../../src/core/merge/holds.ts';
import type { Run } from '../../../src/store/runs.ts';
import { type Scene, useScenes } from './store-scene.ts';

const scene = useScenes();

const nothing = { id: 0, lead: null, rowValue: null };

function item(known: Partial<NewConflict> = {}): NewConflict {
  return {
    leadId: 'a',
    contentHash: '',
    field: 'stage',
    row: 7,
    code: 'conflict.both-edited',
    message: 'both were edited',
    base: 'new',
    lead: 'won',
    rowValue: 'lost',
    ...known,
  };
}

function action(known: Partial<PlannedAction> = {}): PlannedAction {
  const changes = { stage: { from: 'won', to: 'lost', base: 'new' } };
  return {
    kind: 'hold',
    leadId: 'a',
    row: 7,
    contentHash: '',
    changes,
    expect: {},
    reason: 'conflict.both-edited',
    message: 'both were edited',
    ...known,
  };
}

const list = ({ pool, connection }: Scene) => listConflicts(pool, connection);
const keys = (held: readonly Conflict[]) => held.map(({ leadId, field }) => `${leadId}/${field}`);

/** Holds what the plan of a round holds. */
async function plan(here: Scene, run: Run, actions: readonly PlannedAction[]): Promise<void> {
  if (actions.length > 0) await insertActions(here.pool, run, actions);
  await recordPlannedConflicts(here.pool, run, await here.live(run));
}

describe('what is held', () => {
  test('is told with both values, in the order in which it came', async () => {
    const here = scene();
    const run = await here.run();
    await recordConflicts(here.pool, run, [
      item(),
      item({
        leadId: null,
        contentHash: 'k',
        field: '',
        row: null,
        lead: null,
        rowValue: { unreadable: 'soon' },
      }),
    ]);
    const [first, second] = await list(here);
    expect(first).toEqual({
      kind: 'field',
      company: null,
      id: expect.any(Number),
      connection: here.connection,
      leadId: 'a',
      contentHash: '',
      field: 'stage',
      row: 7,
      code: 'conflict.both-edited',
      message: 'both were edited',
      lead: 'won',
      rowValue: 'lost',
      records: null,
      resolution: null,
      author: null,
      requestedBy: null,
      decided: null,
      since: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    });
    expect(second).toMatchObject({
      leadId: '',
      contentHash: 'k',
      field: '',
      row: null,
      lead: null,
      rowValue: { unreadable: 'soon' },
    });
    expect(await countConflicts(here.pool, here.connection)).toBe(2);
    expect(await conflictsOf(here.pool, [first?.id ?? 0])).toEqual([first]);
    expect(await listConflicts(here.pool, here.connection, 1)).toEqual([first]);
  });

  test('belongs to its connection', async () => {
    const [here, other] = [scene(), scene()];
    await recordConflicts(here.pool, await here.run(), [item()]);
    await recordConflicts(other.pool, await other.run(), [item(), item({ field: 'city' })]);
    expect(await countConflicts(here.pool, here.connection)).toBe(1);
    await plan(other, await other.scan({}, []), []);
    expect(await countConflicts(other.pool, other.connection)).toBe(0);
    expect(keys(await list(here))).toEqual(['a/stage']);
  });

  test('nobody', async () => {
    expect(await conflictsOf(scene().pool, [0])).toEqual([]);
    await recordConflicts(scene().pool, await scene().run(), []);
  });

  test('keeps its id and its date when it is held again, and is told as it is now', async () => {
    const here = scene();
    const run = await here.run();
    await recordConflicts(here.pool, run, [item()]);
    await here.pool.query(`update held set since = '2026-01-02T03:04:05Z' where connection = $1`, [
      here.connection,
    ]);
    const [before] = await list(here);
    await recordConflicts(here.pool, { ...run, round: 2 }, [
      item({ row: 9, code: 'lead.field-refused', message: 'no', lead: 'x' }),
    ]);
    expect(await list(here)).toEqual([
      {
        ...before,
        row: 9,
        code: 'lead.field-refused',
        message: 'no',
        lead: 'x',
        since: '2026-01-02T03:04:05Z',
      },
    ]);
  });

  test('the same thing twice in one call is held once', async () => {
    const here = scene();
    await recordConflicts(here.pool, await here.run(), [item(), item({ message: 'later' })]);
    expect(await list(here)).toMatchObject([{ message: 'later' }]);
  });
});

describe('a decision', () => {
  test.each<[string, Partial<NewConflict>, 'target' | null]>([
    ['stays while both sides show what was decided on', {}, 'target'],
    [
      'stays when only the reason is told otherwise',
      { message: 'other', code: 'lead.field-refused', row: 99 },
      'target',
    ],
    ['is dropped when the lead was edited', { lead: 'x' }, null],
    ['is dropped when the row was edited', { rowValue: 'x' }, null],
    ['is dropped when the row was emptied', { rowValue: null }, null],
    ['is dropped when the row cannot be read any more', { rowValue: { unreadable: 'lost' } }, null],
  ])('%s', async (_, now, expected) => {
    const here = scene();
    const run = await here.run();
    await recordConflicts(here.pool, run, [item(), item({ field: 'city' })]);
    const [first = nothing] = await list(here);
    expect(await decideConflict(here.pool, first, 'target', 'anna')).toBe(true);
    const at = expect.stringMatching(/^20\d\d-.*Z$/);
    expect((await list(here)).map(({ resolution, decided }) => [resolution, decided])).toEqual([
      ['target', { by: 'anna', at }],
      [null, null],
    ]);
    await recordConflicts(here.pool, run, [item(now)]);
    expect((await list(here))[0]?.resolution).toBe(expected);
  });

  test('stays also on an empty side and on what cannot be read', async () => {
    const here = scene();
    const run = await here.run();
    const both = { lead: null, rowValue: { unreadable: 'soon' } };
    await recordConflicts(here.pool, run, [item(both)]);
    const [first = nothing] = await list(here);
    expect(await decideConflict(here.pool, first, 'lead', 'anna')).toBe(true);
    await recordConflicts(here.pool, run, [item(both)]);
    expect((await list(here))[0]?.resolution).toBe('lead');
  });

  test.each<Partial<Conflict>>([{ lead: 'x' }, { rowValue: null }])(
    'on values that are not held any more is none: %j',
    async (seen) => {
      const here = scene();
      await recordConflicts(here.pool, await here.run(), [item()]);
      const [first = nothing] = await list(here);
      expect(await decideConflict(here.pool, { ...first, ...seen }, 'lead', 'anna')).toBe(false);
      expect((await list(here))[0]?.resolution).toBe(null);
      expect(await listDecisions(here.pool, here.connection, null, null)).toEqual([]);
    },
  );
});

describe('the holds of a plan', () => {
  test('one for each field, one for a whole record', async () => {
    const here = scene();
    const run = await here.run();
    const changes = { stage: { from: 'won', to: 'lost' }, city: { from: null, to: { unreadable: 'x' } } };
    await plan(here, run, [action({ changes }), action({ leadId: 'b', changes: {}, reason: 'row.orphan' })]);
    const held = await list(here);
    expect(keys(held).toSorted()).toEqual(['a/city', 'a/stage', 'b/']);
    expect(held.find(({ field }) => field === 'stage')).toMatchObject({
      lead: 'won',
      rowValue: 'lost',
      row: 7,
    });
    expect(held.find(({ field }) => field === 'city')).toMatchObject({
      lead: null,
      rowValue: { unreadable: 'x' },
    });
    expect(held.find(({ leadId }) => leadId === 'b')).toMatchObject({
      code: 'row.orphan',
      lead: null,
      rowValue: null,
    });
  });

  test('release what is not held any more, and keep what still is', async () => {
    const here = scene();
    await plan(here, await here.run(), [action(), action({ leadId: 'b' })]);
    const before = await list(here);
    await plan(here, await here.scan({}, []), [action({ leadId: 'b' }), action({ leadId: 'c' })]);
    const after = await list(here);
    expect(keys(after)).toEqual(['b/stage', 'c/stage']);
    expect(after[0]?.id).toBe(before[1]?.id);
  });

  test('a later round of the same run releases too', async () => {
    const here = scene();
    const run = await here.run();
    await plan(here, run, [action()]);
    await plan(here, { ...run, round: 2 }, []);
    expect(await list(here)).toEqual([]);
  });

  test('rows without id that are alike are held each, also when they are held again', async () => {
    const here = scene();
    const alike = [2, 3, 4].map((row) =>
      action({ leadId: null, contentHash: 'k', row, changes: {}, reason: 'row.company-name-empty' }),
    );
    await plan(here, await here.run(), alike);
    const before = await list(here);
    expect(before.map(({ row }) => row).toSorted((a, b) => Number(a) - Number(b))).toEqual([2, 3, 4]);
    await plan(here, await here.scan({}, []), alike);
    expect((await list(here)).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  });

  test('are never read with more text than fits into memory together', async () => {
    const here = scene();
    const run = await here.run();
    const long = 'x'.repeat(mostTogether / 2 - 1_000);
    const changes = { stage: { from: 'won', to: long, base: 'new' } };
    await insertActions(
      here.pool,
      run,
      ['a', 'b', 'c'].map((leadId) => action({ leadId, changes })),
    );
    const sizes: number[] = [];
    const query = async (text: string, values: unknown[]) => {
      const found = await here.pool.query<object>(text, values);
      sizes.push(charactersIn(found.rows));
      return found;
    };
    await recordPlannedConflicts({ query } as never, run, await here.live(run));
    expect(Math.max(...sizes)).toBeLessThan(mostTogether);
    expect(keys(await list(here))).toEqual(['a/stage', 'b/stage', 'c/stage']);
  });
});

test('thousands of rows that a missing permission keeps from becoming leads are held each', async () => {
  const here = scene();
  const run = await here.run();
  const create = action({ kind: 'create-lead', leadId: null, contentHash: 'k', reason: 'new-row' });
  const expected = { companyName: 'Acme', stage: 'a stage' };
  const rows = Array.from({ length: 1_234 }, (_, nth) => nth + 2);
  await insertActions(
    here.pool,
    run,
    rows.map((row) => ({ ...create, row, expect: expected })),
  );
  await holdRemaining(here.pool, run, 'create-lead', { code: 'leads.forbidden', message: 'no' });
  expect((await list(here)).map(({ row, company }) => [row, company])).toEqual(
    rows.map((row) => [row, 'Acme']),
  );
});

test('what a missing permission keeps from being done is held, the rest of the plan is not', async () => {
  const here = scene();
  const run = await here.run();
  const create = action({ kind: 'create-lead', leadId: null, contentHash: 'k', reason: 'new-row' });
  await insertActions(here.pool, run, [create, { ...create, row: 8 }, action({ kind: 'update-lead' })]);
  await holdRemaining(here.pool, run, 'create-lead', {
    code: 'leads.forbidden',
    message: 'no permission',
  });
  expect((await list(here)).map(({ row, code, message }) => [row, code, message])).toEqual([
    [7, 'leads.forbidden', 'no permission'],
    [8, 'leads.forbidden', 'no permission'],
  ]);
  const { rows } = await here.pool.query(
    `select kind, state, outcome_code as code from actions where run_id = $1 order by id`,
    [run.id],
  );
  expect(rows).toEqual([
    { kind: 'create-lead', state: 'held', code: 'leads.forbidden' },
    { kind: 'create-lead', state: 'held', code: 'leads.forbidden' },
    { kind: 'update-lead', state: 'planned', code: null },
  ]);
});
