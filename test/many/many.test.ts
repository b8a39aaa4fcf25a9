import { expect, test } from 'vitest';
import type { SyncReport } from '../../src/sync/report.ts';
import { startMailServer } from '../support/mail-server.ts';
import { messageId } from '../support/reminder-worker.ts';
import { until } from '../support/until.ts';
import { Workspace } from '../support/workspace.ts';
import { many, measured } from './figures.ts';

const headings = ['Lead ID', 'Company', 'Segment', 'City', 'Region', 'Stage', 'Next follow-up'];
const limit = 30 * 60_000;

const row = (id: string, number: number): string[] => [
  id,
  `Firm ${number} Handels GmbH`,
  'smb',
  `City ${number % 97}`,
  `R${number % 10}`,
  'new',
  '',
];
const rows = (count: number): string[][] => Array.from({ length: count }, (_, number) => row('', number));

/** A sync as a process of its own. */
async function sync(here: Workspace, ...args: string[]): Promise<SyncReport> {
  const { stdout, stderr } = await here.cli('sync', '--json', ...args);
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as SyncReport;
}

test(
  '5,000 new rows, at a service that tells nothing of what it made: each is one lead, and has its id',
  async () => {
    const count = many(5_000);
    using figures = measured();
    await using here = await Workspace.open({
      sandbox: { leads: 5, createReply: 'nothing' },
      env: figures.env,
    });
    here.sheet.write([headings, ...rows(count)]);
    const first = await sync(here, '--allow', 'max-changes', '--allow', 'first-leads');
    const second = await sync(here);
    const made = here.sandbox.leads.list().filter(({ companyName }) => companyName.startsWith('Firm '));
    expect(new Set(made.map(({ companyName }) => companyName)).size).toBe(count);
    expect(made).toHaveLength(count);
    const stand = here.sheet.rows().filter((one) => one['Company']?.startsWith('Firm ') === true);
    expect(new Set(stand.map((one) => one['Lead ID']))).toEqual(new Set(made.map(({ id }) => id)));
    expect(second).toMatchObject({ status: 'succeeded', created: { leads: 0, rows: 0 }, held: 0 });
    figures.check('new rows', { count, status: first.status, seconds: first.durationMs / 1000 });
  },
  limit,
);

test(
  '20,000 leads and rows that differ at first sight: each is held, twice over',
  async () => {
    const count = many(20_000);
    using figures = measured();
    await using here = await Workspace.open({ sandbox: { leads: count, maxLimit: 1_000 }, env: figures.env });
    here.sheet.write([headings, ...here.sandbox.leads.list().map(({ id }, number) => row(id, number))]);
    const before = here.sheet.text();
    const first = await sync(here);
    expect(first).toMatchObject({ status: 'partial', updated: { leads: 0 } });
    expect(first.held).toBeGreaterThanOrEqual(count);
    const second = await sync(here);
    expect(second.held).toBe(first.held);
    expect(here.sheet.rows().map((one) => one['Company'])).toEqual(rows(count).map((one) => one[1]));
    expect(here.sheet.text().length).toBeGreaterThanOrEqual(before.length);
    figures.check('first sights', { count, held: first.held, seconds: first.durationMs / 1000 });
  },
  limit,
);

test(
  '50,000 rows that are no leads, of a table that only shows: told, nothing is made of them',
  async () => {
    const count = many(50_000);
    using figures = measured();
    await using here = await Workspace.open({
      sandbox: { leads: 5 },
      connection: { sync: { direction: 'to-target' } },
      env: figures.env,
    });
    here.sheet.write([headings, ...rows(count)]);
    const first = await sync(here);
    expect(first).toMatchObject({ created: { leads: 0, rows: 5 }, targetRows: count });
    expect(await sync(here)).toMatchObject({ created: { leads: 0, rows: 0 }, targetRows: count + 5 });
    expect(here.sandbox.leads.size).toBe(5);
    figures.check('one-way rows', { count, status: first.status, seconds: first.durationMs / 1000 });
  },
  limit,
);

test(
  '100 mails, at a server that takes its time, while syncs plan: each comes once',
  async () => {
    const count = many(100);
    using figures = measured();
    await using server = await startMailServer({
      onMailFrom: (_address, _session, callback) => void setTimeout(callback, 200),
    });
    await using here = await Workspace.open({
      connection: {
        reminders: { from: 'Sales <sales@example.com>', to: ['anna@example.com'], timeZone: 'UTC' },
      },
      env: { ...figures.env, SMTP_URL: `smtp://127.0.0.1:${server.port}` },
    });
    for (let number = 0; number < count; number++)
      here.sandbox.leads.add({
        companyName: `Firm ${number}`,
        nextFollowUpAt: new Date(Date.now() - 1_000 - number).toISOString(),
      });
    await sync(here);
    await using worker = here.start(['worker']);
    while (server.mails.length < count) {
      expect((await sync(here)).status).toBe('succeeded');
      if (worker.child.exitCode !== null) throw new Error(worker.stderr);
    }
    await until('all are told as sent', async () => {
      const { rows: left } = await here.database.pool.query(`select from mails where state <> 'sent'`);
      return left.length === 0;
    });
    worker.child.kill('SIGTERM');
    await worker.ended;
    const ids = server.mails.map(({ source }) => messageId(source));
    expect([ids.length, new Set(ids).size]).toEqual([count, count]);
    figures.check('mails', { count, syncs: here.sandbox.stats.byRoute.list });
  },
  limit,
);
