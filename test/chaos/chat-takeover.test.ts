import { expect, test } from 'vitest';
import { startChatServer } from '../stand-ins/chat/chat-server.ts';
import { until } from '../support/until.ts';
import { Workspace } from '../support/workspace.ts';

/** A schedule that does not come due while a test runs, nor is made up for. */
const sync = { schedule: `0 0 ${new Date(Date.now() - 2 * 24 * 3_600_000).getUTCDate()} 1 *` };

/** Messages; a channel gets one a second. */
const count = 12;

test('a worker is killed amid the messages of a channel: the other goes on, and none is posted twice', async () => {
  await using server = await startChatServer(() => null);
  const reminders = { webhook: server.url('slack'), timeZone: 'UTC' };
  await using workspace = await Workspace.open({ connection: { reminders, sync } });
  for (let n = 0; n < count; n++) {
    const nextFollowUpAt = new Date(Date.now() - 1_000 - count + n).toISOString();
    workspace.sandbox.leads.add({ companyName: `Lead${n}AG`, nextFollowUpAt });
  }
  await workspace.sync();
  const workers = [workspace.start(['worker']), workspace.start(['worker'])];
  await until('messages arrive', () => server.posted.length >= 3);
  const { pool } = workspace.database;
  const states = async (): Promise<Record<string, number>> => {
    const { rows } = await pool.query<{ state: string; count: number }>(
      `select state, count(*)::int as count from mails group by state`,
    );
    return Object.fromEntries(rows.map((row) => [row.state, row.count]));
  };
  await workers[0]?.kill('SIGKILL');
  await until('all but the one in flight at the kill are posted', async () => {
    const { scheduled = 0, sending = 0 } = await states();
    return scheduled === 0 && sending <= 1;
  });
  const { sent = 0, sending = 0 } = await states();
  expect(sent + sending).toBe(count);
  const leads = server.posted.map(({ text }) => /Lead\d+AG/.exec(text)?.[0]);
  expect(new Set(leads).size, 'none twice').toBe(leads.length);
  expect(leads.length).toBeGreaterThanOrEqual(sent);
});
