import { describe, expect, test } from 'vitest';
import type { WorkerApp } from '../../../src/worker/open-worker.ts';
import { runNow } from '../../../src/cli/run-now.ts';
import { nextRun, previousRun } from '../../../src/queue/due-times.ts';
import { agreeSchedules } from '../../../src/store/connections.ts';
import { workMails } from '../../../src/worker/work-mails.ts';
import { parseFaults } from '../../../src/demo/faults.ts';
import type { SyncReport } from '../../../src/sync/report.ts';
import { Exposition } from '../../support/exposition.ts';
import { promtool } from '../../support/promtool.ts';
import { jobPlaces, startRedis } from '../../support/redis.ts';
import { slackMs, until } from '../../support/until.ts';
import { yearly } from '../../support/worker.ts';
import { connectionName as connection, Workspace } from '../../support/workspace.ts';

const never = new AbortController().signal;

/** A sync on the path of every night, through the queue. */
async function sync(app: WorkerApp): Promise<SyncReport> {
  const run = await runNow(app, connection, { mode: 'sync' }, never);
  return run.report as SyncReport;
}

async function scrape(app: WorkerApp): Promise<Exposition> {
  return new Exposition(await (await app.metrics()).render());
}

/** How often the service answered with each status, as it counts them itself. */
function repliesOf({ sandbox }: Workspace): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of sandbox.log) {
    const key = String(status ?? 'unfinished');
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

test('after nights with a 429, an edit that is held, one that is put off, and a mail: the numbers are those of the database and the service', async () => {
  await using workspace = await Workspace.open({
    sandbox: { leads: 5, faults: parseFaults('429:once=1,retryAfter=1') },
    connection: { reminders: { from: 'sales@example.com', to: ['anna@example.com'], timeZone: 'UTC' } },
  });
  const { sandbox, sheet, database } = workspace;
  const [held, late, mailed] = sandbox.leads.list();
  sandbox.leads.edit(mailed?.id ?? '', { nextFollowUpAt: new Date(Date.now() - 5_000).toISOString() });
  await using app = await workspace.openApp();
  const before = await (await app.metrics()).render();
  expect(new Exposition(before).value('leadsync_last_success_age_seconds', { connection })).toBe(
    Number.POSITIVE_INFINITY,
  );

  await using _mails = await workMails(app);
  expect(await sync(app)).toMatchObject({ status: 'succeeded' });
  await until('the mail is sent', async () => {
    const { rowCount } = await database.pool.query(`select from mails where state = 'sent'`);
    return rowCount === 1;
  });
  sandbox.leads.edit(held?.id ?? '', { stage: 'won' });
  sheet.edit((row) => row['Lead ID'] === held?.id, { Stage: 'lost' });
  sheet.edit((row) => row['Lead ID'] === late?.id, { City: 'Köln' });
  sandbox.set({ faults: parseFaults('503:every=1,on=PATCH') });
  const report = await sync(app);
  expect(report).toMatchObject({ status: 'partial', held: 1, putOff: 1 });

  const page = await scrape(app);
  const value = (name: string, labels: Record<string, string> = {}): number | undefined =>
    page.value(`leadsync_${name}`, labels);
  expect(page.all('leadsync_scrape_error').every((sample) => sample.value === 0)).toBe(true);
  const statuses = page.all('leadsync_last_run_status').map(({ labels }) => labels);
  expect(statuses).toEqual([{ connection, status: 'partial' }]);
  expect(value('last_run_duration_seconds', { connection })).toBeGreaterThan(report.durationMs / 2000);
  expect(page.all('leadsync_open_run_progress_timestamp_seconds')).toEqual([]);
  expect(value('held_items', { connection })).toBe(1);
  for (const clock of [
    { clock: 'worker', connection: '' },
    { clock: 'service', connection },
  ])
    expect(Math.abs(value('clock_ahead_seconds', clock) ?? Number.NaN), clock.clock).toBeLessThan(2);
  expect(value('last_success_age_seconds', { connection })).toBeLessThan(60);

  const replies = Object.fromEntries(
    page
      .all('leadsync_requests_total', { connection, side: 'leads' })
      .filter((sample) => sample.value > 0)
      .map((sample) => [sample.labels['status'], sample.value]),
  );
  expect(replies).toEqual(repliesOf(workspace));
  expect(replies).toMatchObject({ '429': 1 });
  expect(value('wait_seconds_total', { connection, reason: 'throttled' })).toBeGreaterThan(0.5);
  expect(value('wait_seconds_total', { connection, reason: 'fault' })).toBeGreaterThan(0.5);
  const until429 = value('throttled_until_timestamp_seconds', { connection }) ?? 0;
  expect(until429).toBeGreaterThan(Date.now() / 1000 - 60);

  expect(value('reminders', { connection, kind: 'reminder', state: 'failed' })).toBe(0);
  expect(value('reminder_lateness_seconds', { connection, kind: 'reminder' })).toBe(0);
  expect(value('requests_total', { side: 'mail', status: 'sent' })).toBe(1);
  expect(value('queue_jobs', { queue: 'mails', state: 'waiting' })).toBe(0);
  const { version } = page.all('leadsync_build_info')[0]?.labels ?? {};
  expect(version).toMatch(/^\d+\.\d+\.\d+/);

  const text = await (await app.metrics()).render();
  expect(text.split('\n').filter((line) => line.includes(`connection="${connection}"`)).length).toBeLessThan(
    21,
  );
  for (const { id, companyName } of sandbox.leads.list() as { id: string; companyName: string }[]) {
    expect(text).not.toContain(id);
    expect(text).not.toContain(companyName);
  }
  expect(text).not.toContain('anna@');
  expect(text).not.toContain(sandbox.apiKey);
});

test('a sync is due by the schedule that workers have agreed on, whatever this one has', async () => {
  await using workspace = await Workspace.open({ connection: { sync: yearly } });
  await using app = await workspace.openApp();
  const due = async (): Promise<number | undefined> =>
    (await scrape(app)).value('leadsync_last_due_timestamp_seconds', { connection });
  expect(await due()).toBe(previousRun(yearly.schedule, 'UTC', Date.now()) / 1_000);
  const agreed = { connection, pattern: '30 * * * *', timeZone: 'UTC' };
  const nextRunAt = nextRun(agreed.pattern, agreed.timeZone, Date.now());
  await agreeSchedules(app.pool, 'another', [{ ...agreed, nextRunAt }]);
  await until('it is shown', async () => (await due()) === nextRunAt / 1_000 - 3_600);
});

test('promtool finds the metrics well named and described', { tags: 'promtool' }, async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
  await workspace.sync();
  await using app = await workspace.openApp();
  const { output } = await promtool(['check', 'metrics'], await (await app.metrics()).render());
  expect(output.trim()).toBe('');
});

for (const [where, tags] of Object.entries(jobPlaces))
  test(`the queues in ${where} tell how many jobs wait in them`, { tags }, async () => {
    await using redis = where === 'Redis' ? await startRedis() : undefined;
    await using workspace = await Workspace.open({ ...(redis && { redis }) });
    await using app = await workspace.openApp();
    const queue = (await app.queues()).queue('syncs');
    await queue.add('sync', {});
    for (const id of ['one', 'two']) await queue.add('sync', {}, { id, delayMs: 60_000 });
    const page = await scrape(app);
    const jobs = page.all('leadsync_queue_jobs').map(({ labels, value }) => ({ ...labels, value }));
    const of = { queue: 'syncs' };
    expect(jobs).toEqual([
      { ...of, state: 'waiting', value: 1 },
      { ...of, state: 'active', value: 0 },
      { ...of, state: 'delayed', value: 2 },
      { ...of, state: 'failed', value: 0 },
    ]);
  });

describe('a scrape', () => {
  test('that finds some figures unreadable shows the others and says which are missing, and comes back', async () => {
    await using workspace = await Workspace.open({ sandbox: { leads: 1 } });
    await workspace.sync();
    await using app = await workspace.openApp();
    const { pool } = workspace.database;
    await pool.query(`alter table held rename to held_away`);
    const broken = await scrape(app);
    expect(broken.value('leadsync_scrape_error', { source: 'held' })).toBe(1);
    expect(broken.all('leadsync_held_items')).toEqual([]);
    expect(broken.value('leadsync_scrape_error', { source: 'runs' })).toBe(0);
    expect(broken.value('leadsync_last_success_age_seconds', { connection })).toBeLessThan(60);

    await pool.query(`alter table held_away rename to held`);
    await until('the figures are back', async () => (await scrape(app)).value('leadsync_held_items') === 0);
    expect((await scrape(app)).value('leadsync_scrape_error', { source: 'held' })).toBe(0);
  });

  test('that waits for a lock is given up in time and holds up nobody; many at once are one', async () => {
    const connection = { reminders: { from: 'sales@example.com', to: ['anna@example.com'] } };
    await using workspace = await Workspace.open({ sandbox: { leads: 1 }, connection });
    await workspace.sync();
    await using app = await workspace.openApp();
    const locker = await workspace.database.pool.connect();
    try {
      await locker.query(`begin; lock table held`);
      const from = performance.now();
      const pages = Array.from({ length: 20 }, async () => (await app.metrics()).render());
      const [first, ...others] = await Promise.all(pages);
      expect(performance.now() - from).toBeLessThan(9_000 + slackMs);
      expect(others.every((page) => page === first)).toBe(true);
      const page = new Exposition(first ?? '');
      expect(page.value('leadsync_scrape_error', { source: 'held' })).toBe(1);
      expect(page.value('leadsync_reminder_lateness_seconds', { kind: 'reminder' })).toBe(0);
    } finally {
      await locker.query('rollback');
      locker.release();
    }
  });
});
