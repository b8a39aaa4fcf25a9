import { expect, test } from 'vitest';
import { Baselines, LiveScan } from '../../../src/core/merge/live-scan.ts';
import { insertActions } from '../../../src/store/actions.ts';
import {
  abandonIntents,
  beginIntent,
  countScanWithout,
  intentsCreated,
  intentOfAction,
  intentsLinked,
  openIntents,
} from '../../../src/store/intents.ts';
import { listActions } from '../../../src/store/run-list.ts';
import { fields, type Scene, useScenes } from './store-scene.ts';

const scene = useScenes();
const row = { companyName: 'Acme', stage: { unreadable: 'soon' } };
const content = { companyName: 'Acme' };

const begin = async (here: Scene, id?: number): Promise<number> => {
  const { pool, connection } = here;
  const actionId = id ?? (await here.action());
  return beginIntent(pool, { connection, actionId, contentHash: 'k', row, content });
};

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
      row,
      content,
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
  await intentsCreated(here.pool, [{ id: created, leadId: 'lead-1' }]);
  await intentsCreated(here.pool, [{ id: linked, leadId: 'lead-2' }]);
  await intentsLinked(here.pool, [linked]);
  await abandonIntents(here.pool, [abandoned]);
  const found = await open(here);
  expect(found.map(({ id, leadId }) => [id, leadId])).toEqual([
    [doubtful, null],
    [created, 'lead-1'],
  ]);
});

test('an action has its intent until that is abandoned, so that it is not sent twice', async () => {
  const here = scene();
  const actionId = await here.action();
  expect(await intentOfAction(here.pool, actionId)).toBeNull();
  const id = await begin(here, actionId);
  expect(await intentOfAction(here.pool, actionId)).toBe(id);
  await intentsCreated(here.pool, [{ id: id, leadId: 'lead-1' }]);
  expect(await intentOfAction(here.pool, actionId)).toBe(id);
  await intentsLinked(here.pool, [id]);
  expect(await intentOfAction(here.pool, actionId)).toBe(id);
  await abandonIntents(here.pool, [id]);
  expect(await intentOfAction(here.pool, actionId)).toBeNull();
});

test('scans without the lead are counted for those that they speak against', async () => {
  const here = scene();
  const [one, two] = [await begin(here), await begin(here)];
  await countScanWithout(here.pool, [one], 1);
  await countScanWithout(here.pool, [one, two], 0.5);
  await countScanWithout(here.pool, [], 1);
  const found = await open(here);
  expect(found.map(({ scansWithoutIt }) => scansWithoutIt)).toEqual([1.5, 0.5]);
});

test('a create that was tried again is one action in the list of what a run did, with the lead that it made', async () => {
  const here = scene();
  const { pool } = here;
  const run = await here.run();
  const action = {
    kind: 'create-lead',
    leadId: null,
    row: 2,
    contentHash: 'k',
    changes: {},
    expect: {},
    reason: 'new',
  } as const;
  await insertActions(pool, run, [action]);
  const [listed] = await listActions(pool, run, 0, 10);
  const actionId = listed?.id ?? 0;
  for (let attempts = 0; attempts < 2; attempts++) await abandonIntents(pool, [await begin(here, actionId)]);
  await intentsCreated(pool, [{ id: await begin(here, actionId), leadId: 'made' }]);
  expect(await listActions(pool, run, 0, 10)).toMatchObject([{ id: actionId, leadId: 'made' }]);
});
