import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { refusal, startMailServer } from '../support/mail-server.ts';
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

async function countOf({ database }: Workspace, state: string): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    `select count(*)::int as count from mails where state = $1`,
    [state],
  );
  return rows[0]?.count ?? 0;
}

test('mails that wait for their turn for over a minute, while syncs plan and a second worker helps: each comes once', async () => {
  const count = 14;
  await using server = await startMailServer({
    onRcptTo: (_address, _session, callback) => void setTimeout(callback, 5_000),
  });
  await using workspace = await dueLeads(count, {
    SMTP_URL: `smtp://127.0.0.1:${server.port}?maxConnections=1`,
  });
  const worker = workspace.start(['worker']);
  await until('the first mail is there', () => server.mails.length > 0);
  await sleep(12_000);
  expect((await workspace.cli('sync')).code).toBe(0);
  const second = workspace.start(['worker']);
  await until('all are sent', async () => (await countOf(workspace, 'sent')) === count, 240_000);
  await Promise.all([worker.kill('SIGTERM'), second.kill('SIGTERM')]);
  const ids = server.mails.map(({ source }) => messageId(source));
  expect(new Set(ids).size).toBe(count);
  expect(ids).toHaveLength(count);
});

test('a wrong password that is put right in the settings: the next worker sends at once, whatever was tried before', async () => {
  await using server = await startMailServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    authOptional: false,
    onAuth: ({ password }, _session, callback) =>
      password === 'right' ? callback(null, { user: 1 }) : callback(refusal(535, '5.7.8 wrong password')),
  });
  const smtp = (password: string): NodeJS.ProcessEnv => ({
    SMTP_URL: `smtp://sales:${password}@127.0.0.1:${server.port}`,
  });
  await using workspace = await dueLeads(5, smtp('wrong-one'));
  const wrong = workspace.start(['worker']);
  await until('the fault is told', () => wrong.stderr.includes('no mail can be sent'));
  await until('the tries have ended', async () => (await countOf(workspace, 'sending')) === 0);
  await wrong.kill('SIGTERM');
  const right = workspace.start(['worker'], { env: smtp('right') });
  await until('all are sent', async () => (await countOf(workspace, 'sent')) === 5, 30_000);
  await right.kill('SIGTERM');
  expect(server.mails).toHaveLength(5);
});
