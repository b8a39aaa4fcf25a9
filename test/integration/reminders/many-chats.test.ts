import { expect, test } from 'vitest';
import { workMails } from '../../../src/worker/work-mails.ts';
import { startChatServer } from '../../stand-ins/chat/chat-server.ts';
import { until } from '../../support/until.ts';
import { Workspace } from '../../support/workspace.ts';

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
