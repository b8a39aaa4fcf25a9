import { expect, test } from 'vitest';
import { LeadsyncError } from '../../../src/lib/errors.ts';
import { planMails } from '../../../src/worker/plan-mails.ts';
import { sendMails } from '../../../src/worker/send-mails.ts';
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
  await sendMails(app, work, stop);
  const { rows } = await app.pool.query('select state, count(*)::int as n from mails group by 1');
  expect(rows).toEqual([{ state: 'sent', n: 20 }]);
  expect(server.mails).toHaveLength(20);
});
