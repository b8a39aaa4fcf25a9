import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startMailServer } from '../support/mail-server.ts';
import { messageId } from '../support/reminder-worker.ts';
import { until } from '../support/until.ts';
import { Workspace } from '../support/workspace.ts';

const reminders = { from: 'sales@example.com', to: ['anna@example.com'], timeZone: 'UTC' };
/** A schedule that does not come due while a test runs, nor is made up for. */
const sync = { schedule: `0 0 ${new Date(Date.now() - 2 * 24 * 3_600_000).getUTCDate()} 1 *` };

/** So many leads due since a second, synced and planned by the real command. */
async function dueLeads(count: number, env: NodeJS.ProcessEnv) {
  await using stack = new AsyncDisposableStack();
  const workspace = stack.use(await Workspace.open({ connection: { reminders, sync }, env }));
  for (let n = 0; n < count; n++) {
    const nextFollowUpAt = new Date(Date.now() - 1_000 - count + n).toISOString();
    workspace.sandbox.leads.add({ companyName: `Lead${String(n).padStart(4, '0')}`, nextFollowUpAt });
  }
  expect((await workspace.cli('sync')).code).toBe(0);
  stack.move();
  return workspace;
}

async function sent({ database }: Workspace): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    `select count(*)::int as count from reminders where state = 'sent'`,
  );
  return rows[0]?.count ?? 0;
}

test('mails that wait for their turn for over a minute, while syncs plan and a second worker helps: each comes once', async () => {
  const count = 20;
  await using server = await startMailServer();
  await using workspace = await dueLeads(count, {
    SMTP_URL: `smtp://127.0.0.1:${server.port}`,
    SMTP_RATE: '0.2',
  });
  const worker = workspace.start(['worker']);
  await until('the first mail is there', () => server.mails.length > 0);
  await sleep(12_000);
  expect((await workspace.cli('sync')).code).toBe(0);
  const second = workspace.start(['worker']);
  await until('all are sent', async () => (await sent(workspace)) === count, 240_000);
  await Promise.all([worker.kill('SIGTERM'), second.kill('SIGTERM')]);
  const ids = server.mails.map(({ source }) => messageId(source));
  expect(new Set(ids).size).toBe(count);
  expect(ids).toHaveLength(count);
}, 300_000);
