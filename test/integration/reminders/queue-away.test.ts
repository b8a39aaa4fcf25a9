import { expect, test, vi } from 'vitest';
import type { App } from '../../../src/app.ts';
import { LeadsyncError } from '../../../src/lib/errors.ts';
import { addMailJobs } from '../../../src/worker/mail-jobs.ts';
import { planMails } from '../../../src/worker/plan-mails.ts';
import { sendMails } from '../../../src/worker/send-mails.ts';
import { createTestDatabase } from '../../support/database.ts';
import { startMailServer } from '../../support/mail-server.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

test('the queue is away when many mails are due at once: those in hand leave, and none stays in hand', async () => {
  await using server = await startMailServer();
  await using workspace = await Workspace.open({
    connection: { reminders: { from: 'sales@example.com', to: ['anna@example.com'] } },
    env: { SMTP_URL: `smtp://127.0.0.1:${server.port}` },
  });
  for (let nth = 0; nth < 20; nth++)
    workspace.sandbox.leads.add({ nextFollowUpAt: new Date(Date.now() - 1_000).toISOString() });
  await workspace.sync();
  await using app = await workspace.openApp();
  await planMails(app);
  const work = { connection: connectionName, isChat: false, at: Date.now() };
  const stop = new AbortController().signal;
  const away = async () => {
    throw new LeadsyncError('queue.unavailable', 'Redis does not answer', { retry: 'later' });
  };
  await expect(sendMails({ ...app, queues: away }, work, stop)).rejects.toMatchObject({
    code: 'queue.unavailable',
  });
  const states = async () =>
    (await app.pool.query('select state, count(*)::int as n from mails group by 1 order by n')).rows;
  // It has waited for what is under way: nobody else would before the process ends.
  expect(await states()).toEqual([
    { state: 'scheduled', n: 4 },
    { state: 'sent', n: 16 },
  ]);
  await sendMails(app, work, stop);
  expect(await states()).toEqual([{ state: 'sent', n: 20 }]);
  expect(server.mails).toHaveLength(20);
});

test('the job of a mail that lost its own is another one after some minutes: Redis may have lost that one from its lists', async () => {
  await using stack = new AsyncDisposableStack();
  const { pool } = stack.adopt(await createTestDatabase(), (made) => made.drop());
  await pool.query(
    `insert into mails (connection, lead_id, due_at, offset_text, recipient, send_at)
     values ('main', 'lead', now(), '0m', 'anna@example.com', now() - interval '5 minutes')`,
  );
  const ids: unknown[] = [];
  const queue = { add: async (_name: string, _payload: object, { id }: { id: string }) => ids.push(id) };
  const queues = (async () => ({ queue: () => queue })) as unknown as App['queues'];
  vi.useFakeTimers({ toFake: ['Date'], now: Math.ceil(Date.now() / 600_000) * 600_000 });
  stack.defer(() => void vi.useRealTimers());
  for (const minutes of [1, 10, 0]) {
    await addMailJobs({ pool, queues }, ['main'], true);
    vi.setSystemTime(Date.now() + minutes * 60_000);
  }
  expect(ids).toHaveLength(3);
  expect(new Set(ids).size).toBe(2);
});
