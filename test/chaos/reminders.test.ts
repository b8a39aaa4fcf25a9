import { expect, test } from 'vitest';
import { refusal, startMailServer } from '../support/mail-server.ts';
import { until } from '../support/until.ts';
import { Workspace } from '../support/workspace.ts';

const reminders = { from: 'sales@example.com', to: ['anna@example.com'], timeZone: 'UTC' };
/** A schedule that does not come due while a test runs, nor is made up for. */
const sync = { schedule: `0 0 ${new Date(Date.now() - 2 * 24 * 3_600_000).getUTCDate()} 1 *` };

/** So many leads due since a second, synced, and not one reminder planned so far. */
async function dueLeads(count: number, smtpUrl: string) {
  const workspace = await Workspace.open({
    connection: { reminders, sync },
    env: { SMTP_URL: smtpUrl },
  });
  for (let n = 0; n < count; n++) {
    const nextFollowUpAt = new Date(Date.now() - 1_000 - count + n).toISOString();
    workspace.sandbox.leads.add({ companyName: `Lead${String(n).padStart(4, '0')}`, nextFollowUpAt });
  }
  await workspace.sync();
  return workspace;
}

async function states(workspace: Workspace): Promise<Record<string, number>> {
  const { rows } = await workspace.database.pool.query<{ state: string; count: number }>(
    `select state, count(*)::int as count from mails where kind <> 'digest' group by state`,
  );
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
}

const idOf = (source: string): string => /^Message-ID: (.*)$/im.exec(source)?.[1]?.trim() ?? '';
const leadOf = (source: string): string => /Lead\d{4}/.exec(source)?.[0] ?? '';

test('one mail for each due date and recipient, however often a sync runs', async () => {
  await using server = await startMailServer();
  await using workspace = await dueLeads(2, `smtp://127.0.0.1:${server.port}`);
  workspace.configure({ sync, reminders: { ...reminders, to: ['anna@example.com', 'ben@example.com'] } });
  const { stdout } = await workspace.cli('sync');
  expect(stdout).toContain('4 reminders are due: leadsync worker sends them');
  expect(server.mails).toEqual([]);
  const worker = workspace.start(['worker']);
  await until('all are sent', async () => (await states(workspace))['sent'] === 4);
  for (let times = 0; times < 2; times++) expect((await workspace.cli('sync')).code).toBe(0);
  await worker.kill('SIGTERM');
  expect(server.mails.map(({ to, source }) => `${leadOf(source)} ${to.join()}`).toSorted()).toEqual([
    'Lead0000 anna@example.com',
    'Lead0000 ben@example.com',
    'Lead0001 anna@example.com',
    'Lead0001 ben@example.com',
  ]);
  expect(new Set(server.mails.map(({ source }) => idOf(source))).size).toBe(4);
});

test('a wrong password: every mail waits, with one error in the log, and no login for each of them', async () => {
  let logins = 0;
  await using server = await startMailServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    authOptional: false,
    onAuth: (_auth, _session, callback) => {
      logins++;
      callback(refusal(535, '5.7.8 wrong password'));
    },
  });
  await using workspace = await dueLeads(40, `smtp://sales:hunter2@127.0.0.1:${server.port}`);
  const worker = workspace.start(['worker']);
  const told = (): number => worker.stderr.split('no mail can be sent').length - 1;
  await until('the fault is told', () => told() > 0);
  await until('the tries have ended', async () => (await states(workspace))['sending'] === undefined);
  await worker.kill('SIGTERM');
  expect(told()).toBe(1);
  expect(worker.stderr).not.toContain('hunter2');
  expect(logins).toBeLessThanOrEqual(16);
  expect(await states(workspace)).toEqual({ scheduled: 40 });
});

test('the worker is killed in the middle, three times: none is missing, none twice but those in flight', async () => {
  const count = 150;
  await using server = await startMailServer();
  await using workspace = await dueLeads(count, `smtp://127.0.0.1:${server.port}`);
  const { pool } = workspace.database;
  const inFlight = new Set<string>();
  for (const enough of [20, 60, 100]) {
    const worker = workspace.start(['worker']);
    await until(`${enough} mails are there`, () => server.mails.length >= enough);
    await worker.kill('SIGKILL');
    // The minutes pass for which those that were cut off are left alone.
    const { rows } = await pool.query<{ company: string }>(
      `update mails m set updated_at = m.updated_at - interval '10 minutes' from pairs p
       where m.state = 'sending' and p.lead_id = m.lead_id returning p.base->>'companyName' as company`,
    );
    for (const { company } of rows) inFlight.add(company);
  }
  const worker = workspace.start(['worker']);
  await until('all are sent', async () => (await states(workspace))['sent'] === count, 120_000);
  await worker.kill('SIGTERM');

  const idsByLead = Map.groupBy(server.mails, ({ source }) => leadOf(source));
  expect(idsByLead.size, 'none is missing').toBe(count);
  for (const [lead, mails] of idsByLead) {
    expect(new Set(mails.map(({ source }) => idOf(source))).size, `${lead}: one Message-ID`).toBe(1);
    if (mails.length > 1) expect(inFlight, `${lead} came ${mails.length} times`).toContain(lead);
    // Once more for each death, and three times at most.
    expect(mails.length).toBeLessThanOrEqual(4);
  }
});
