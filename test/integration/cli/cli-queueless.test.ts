import { expect, test } from 'vitest';
import type { SyncReport } from '../../../src/sync/report.ts';
import { Workspace } from '../../support/workspace.ts';

const reminders = { from: 'sales@example.com', to: ['anna@example.com'], timeZone: 'UTC' };

test.each(['redis://127.0.0.1:1', 'redis://nowhere.invalid:6379'])(
  'a sync is done, and says so, when the queue at %s cannot take the jobs of its mails; they are planned',
  async (url) => {
    await using workspace = await Workspace.open({ sandbox: { leads: 3 }, connection: { reminders } });
    workspace.sandbox.leads.add({
      companyName: 'Due AG',
      nextFollowUpAt: new Date(Date.now() + 600_000).toISOString(),
    });
    const command = await workspace.start(['sync', '--json'], { env: { REDIS_URL: url } }).ended;
    expect(command.code, command.stderr).toBe(0);
    const report = JSON.parse(command.stdout) as SyncReport;
    expect(report).toMatchObject({ status: 'succeeded', created: { rows: 4 } });
    expect(command.stderr).toContain('a worker adds them');
    const { rowCount } = await workspace.database.pool.query(`select from mails where state = 'scheduled'`);
    expect(rowCount).toBeGreaterThan(0);
  },
);
