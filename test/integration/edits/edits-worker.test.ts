import { expect, test } from 'vitest';
import { editJob, runHandlers, syncQueue, unattended } from '../../../jobs/runs.ts';
import type { WorkerApp } from '../../../src/worker/open-worker.ts';
import { planMails } from '../../../src/worker/plan-mails.ts';
import { keepQueuesFilled } from '../../../src/worker/fill-queues.ts';
import { editScene, friday, monday, tuesday } from './edit-scene.ts';

const reminders = { to: ['anna@example.com'], timeZone: 'UTC' };
const queueOf = async ({ queues }: WorkerApp) => (await queues()).queue(syncQueue);

test('two workers, and a sync under way: each edit is written once, and the mails of the lead are planned anew', async () => {
  await using scene = await editScene({ reminders });
  await using stack = new AsyncDisposableStack();
  const [one, two] = [stack.use(await scene.openApp()), stack.use(await scene.openApp())];
  await planMails(one);
  scene.sandbox.set({ faults: [{ kind: 'slow', ms: 1_000, when: { every: 1 }, on: ['list'] }] });
  await (await queueOf(one)).add('sync', unattended('main'));
  for (const app of [one, two]) stack.use((await queueOf(app)).work(runHandlers(app)));
  const first = await scene.request();
  const second = await scene.request({ leadId: scene.ids[1] ?? '', to: null });
  for (const [app, { id }] of [
    [one, first],
    [two, second],
  ] as const) {
    const { name, payload, options } = editJob('main', String(id));
    await (await queueOf(app)).add(name, payload, options);
  }

  const states = async () => (await scene.edits()).map(({ state }) => state);
  await expect.poll(states).toEqual(['applied', 'applied']);
  expect(scene.sandbox.log.filter(({ method }) => method === 'PATCH')).toHaveLength(2);
  const mails = async () => {
    const { rows } = await scene.database.pool.query<{ due: Date; state: string }>(
      'select due_at as due, state from mails order by lead_id, due_at',
    );
    return rows.map(({ due, state }) => `${due.toISOString()} ${state}`);
  };
  await expect.poll(mails).toEqual([`${monday} cancelled`, `${tuesday} scheduled`, `${monday} cancelled`]);
});

test('edits of a paused connection wait; one whose job is lost is found again', async () => {
  await using scene = await editScene();
  await using stack = new AsyncDisposableStack();
  const app = stack.use(await scene.openApp());
  stack.use((await queueOf(app)).work(runHandlers(app)));
  await scene.cli('pause');
  await scene.request({ to: friday });
  const { name, payload } = editJob('main', 'any');
  const job = await (await queueOf(app)).add(name, payload);
  expect(await job.finished(AbortSignal.timeout(20_000))).toEqual({ runId: null });
  expect(scene.due()).toBe(monday);

  await scene.cli('resume');
  stack.use(keepQueuesFilled(app, await app.queues()));
  await expect.poll(() => scene.due()).toBe(friday);
});
