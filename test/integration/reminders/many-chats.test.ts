import { expect, test } from 'vitest';
import { planMails } from '../../../src/worker/plan-mails.ts';
import { sendMails } from '../../../src/worker/send-mails.ts';
import { workMails } from '../../../src/worker/work-mails.ts';
import { startChatServer } from '../../stand-ins/chat/chat-server.ts';
import { until } from '../../support/until.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

test('more chats that have a message at once than there are connections to the database', async () => {
  await using chat = await startChatServer();
  const reminders = { to: undefined, webhook: chat.url('slack'), timeZone: 'UTC' };
  const others = Object.fromEntries(Array.from({ length: 9 }, (_, nth) => [`c${nth}`, { reminders }]));
  await using workspace = await Workspace.open({ connection: { reminders }, others });
  const nextFollowUpAt = new Date(Date.now() - 1_000).toISOString();
  await using app = await workspace.openApp();
  app.pool.options.max = 8;
  for (const { name, reminders: of } of app.config.connections) {
    const { id } = workspace.sandbox.leads.add({ nextFollowUpAt });
    await app.pool.query(
      `insert into mails (connection, lead_id, due_at, offset_text, recipient, send_at) values ($1, $2, $3, '0m', $4, $3)`,
      [name, id, nextFollowUpAt, of?.chat?.recipient],
    );
  }
  await using _working = await workMails(app);
  await until('all have their message', () => chat.posted.length === 10);
  expect(chat.refused).toEqual([]);
});

test('two jobs of one chat in one process: one of them posts, the other comes again later', async () => {
  await using chat = await startChatServer();
  const reminders = { to: undefined, webhook: chat.url('slack'), timeZone: 'UTC' };
  await using workspace = await Workspace.open({ connection: { reminders } });
  const nextFollowUpAt = new Date(Date.now() - 1_000).toISOString();
  for (const _ of [1, 2]) workspace.sandbox.leads.add({ nextFollowUpAt });
  await workspace.sync();
  await using app = await workspace.openApp();
  await planMails(app);
  const work = { connection: connectionName, isChat: true, at: Date.now() };
  const stop = new AbortController().signal;
  const results = await Promise.all([sendMails(app, work, stop), sendMails(app, work, stop)]);
  expect(results).toEqual(expect.arrayContaining([{ done: {} }, { againAfterMs: expect.any(Number) }]));
  expect(chat.posted).toHaveLength(2);
});
