import { expect, test } from 'vitest';
import { LiveScan } from '../../../src/core/merge/live-scan.ts';
import { Baselines } from '../../../src/core/merge/records.ts';
import { insertActions, visibleActions } from '../../../src/store/actions.ts';
import { beginIntent, changeIntents, openIntents } from '../../../src/store/intents.ts';
import { listActions } from '../../../src/store/run-list.ts';
import { openRun } from '../../../src/store/runs.ts';
import { fields, type Scene, useScenes } from './store-scene.ts';

const scene = useScenes();
const create = {
  kind: 'create-lead',
  leadId: null,
  row: 2,
  contentHash: 'k',
  changes: { companyName: { from: null, to: 'Acme' } },
  expect: { companyName: 'Acme', stage: { unreadable: 'soon' } },
  reason: 'new-row',
} as const;

/** Plans a create in the run that is open, or a new one. */
async function planned(here: Scene): Promise<number> {
  const { pool, connection } = here;
  const run = (await openRun(pool, connection, 'sync')) ?? (await here.run());
  await insertActions(pool, run, [create]);
  return (await visibleActions(pool, run)).at(-1)?.id ?? 0;
}

async function begin(here: Scene): Promise<number> {
  const id = await planned(here);
  await beginIntent(here.pool, here.connection, id);
  return id;
}

/** Those that a run finds whose scan shows nothing. */
const open = ({ pool, connection }: Scene) =>
  openIntents(pool, { id: 0, connection }, new LiveScan(new Baselines(fields)));

test('an intent that was begun is open, in doubt, with what is needed to find its lead', async () => {
  const here = scene();
  const before = Date.now();
  const id = await begin(here);
  expect(await open(here)).toEqual([
    {
      id,
      contentHash: 'k',
      row: create.expect,
      content: { companyName: 'Acme' },
      leadId: null,
      answered: false,
      lostItsRow: false,
      attemptedAt: expect.any(Number),
      scansWithoutIt: 0,
    },
  ]);
  const [intent] = await open(here);
  expect(Math.abs((intent?.attemptedAt ?? 0) - before)).toBeLessThan(10_000);
});

test('open are those in doubt and those not linked yet, oldest first, of this connection', async () => {
  const [here, other] = [scene(), scene()];
  const [doubtful, created, linked, abandoned] = [
    await begin(here),
    await begin(here),
    await begin(here),
    await begin(here),
  ];
  await begin(other);
  await changeIntents(here.pool, [[created, { state: 'created', leadId: 'lead-1' }]]);
  await changeIntents(here.pool, [[linked, { state: 'created', leadId: 'lead-2' }]]);
  await changeIntents(here.pool, [[linked, { state: 'linked' }]]);
  await changeIntents(here.pool, [[abandoned, { state: 'abandoned' }]]);
  const found = await open(here);
  expect(found.map(({ id, leadId }) => [id, leadId])).toEqual([
    [doubtful, null],
    [created, 'lead-1'],
  ]);
});

test('an action has its intent until that is abandoned, so that it is not sent twice', async () => {
  const here = scene();
  const id = await planned(here);
  const { id: runId = 0 } = (await openRun(here.pool, here.connection, 'sync')) ?? {};
  const isBegun = async (): Promise<boolean | undefined> =>
    (await visibleActions(here.pool, { id: runId, round: 1, undoOf: null })).at(0)?.isBegun;
  expect(await isBegun()).toBe(false);
  await beginIntent(here.pool, here.connection, id);
  expect(await isBegun()).toBe(true);
  await changeIntents(here.pool, [[id, { state: 'created', leadId: 'lead-1' }]]);
  expect(await isBegun()).toBe(true);
  await changeIntents(here.pool, [[id, { state: 'linked' }]]);
  expect(await isBegun()).toBe(true);
  await changeIntents(here.pool, [[id, { state: 'abandoned' }]]);
  expect(await isBegun()).toBe(false);
});

test('scans without the lead are counted for those that they speak against', async () => {
  const here = scene();
  const [one, two] = [await begin(here), await begin(here)];
  await changeIntents(here.pool, [[one, { scansWithoutIt: 1 }]]);
  await changeIntents(here.pool, [
    [one, { scansWithoutIt: 1.5 }],
    [two, { scansWithoutIt: 0.5 }],
  ]);
  await changeIntents(here.pool, []);
  const found = await open(here);
  expect(found.map(({ scansWithoutIt }) => scansWithoutIt)).toEqual([1.5, 0.5]);
});

test('a create that was tried again begins anew, and is listed with the lead that it made', async () => {
  const here = scene();
  const { pool, connection } = here;
  const id = await begin(here);
  await changeIntents(pool, [[id, { state: 'created', leadId: 'first' }]]);
  await changeIntents(pool, [[id, { scansWithoutIt: 1 }]]);
  await changeIntents(pool, [[id, { state: 'abandoned' }]]);
  expect(await open(here)).toEqual([]);
  await beginIntent(pool, connection, id);
  expect(await open(here)).toMatchObject([{ id, leadId: null, scansWithoutIt: 0 }]);
  await changeIntents(pool, [[id, { state: 'created', leadId: 'made' }]]);
  const run = await openRun(pool, connection, 'sync');
  expect(run && (await listActions(pool, run, 0, 10))).toMatchObject([{ id, leadId: 'made' }]);
});

test('of creates of which none was begun none is abandoned', async () => {
  const here = scene();
  const id = await planned(here);
  await changeIntents(here.pool, [[id, { state: 'abandoned' }]]);
  const { rows } = await here.pool.query(`select intent from actions where id = $1`, [id]);
  expect(rows).toEqual([{ intent: null }]);
});
