import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openWorker } from '../../../src/worker/open-worker.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { localDateOf } from '../../../src/reminders/plan/local-time.ts';
import { planMails } from '../../../src/worker/plan-mails.ts';
import { workMails } from '../../../src/worker/work-mails.ts';
import { advanceBaselines } from '../../support/advance-baselines.ts';
import { hoursAheadAtNoon, zoneAhead } from '../../support/daytime-zone.ts';
import { until } from '../../support/until.ts';
import { outbox } from '../../support/worker.ts';
import { Workspace } from '../../support/workspace.ts';

/** A zone in which it is about noon now, so that no test is run into by midnight. */
const timeZone = zoneAhead(hoursAheadAtNoon());
const reminders = { to: ['anna@example.com'], timeZone, before: [], digest: '08:00' };

test('one digest, by the queue of its home, though another process plans it; none more when the home is renamed', async () => {
  await using workspace = await Workspace.open({
    connection: { reminders },
    others: { west: { reminders } },
  });
  /** This process, for all connections or for one. */
  const open = async (only?: string) => {
    const config = await loadConfig({ env: workspace.env, cwd: workspace.folder });
    const connections = config.connections.filter(({ name }) => only === undefined || name === only);
    return openWorker({ ...config, connections }, pino({ level: 'silent' }));
  };
  const { pool } = workspace.database;
  for (const name of ['main', 'west']) {
    const nextFollowUpAt = new Date().toISOString();
    await advanceBaselines(pool, name, [
      { leadId: name, values: { companyName: `Of ${name}`, nextFollowUpAt } },
    ]);
    await pool.query(
      `insert into runs (connection, mode, base_url, settings_hash, status, finished_at)
       values ($1, 'sync', 'x', 'x', 'succeeded', now())`,
      [name],
    );
  }
  const digests = async () => {
    const { rows } = await pool.query<{ connection: string; state: string }>(
      `select connection, state from mails where kind = 'digest' and local_date = $1`,
      [localDateOf(Date.now(), timeZone)],
    );
    return rows;
  };
  {
    await using main = await open('main');
    await planMails(main);
    await using west = await open('west');
    await planMails(west);
    await pool.query(`update mails set local_date = $1, send_at = now() - interval '1 second'`, [
      localDateOf(Date.now(), timeZone),
    ]);
    await planMails(west);
    await using _westWorks = await workMails(west);
    await using _mainWorks = await workMails(main);
    await until('it is sent', async () => (await digests())[0]?.state === 'sent');
    expect(await digests()).toEqual([{ connection: 'main', state: 'sent' }]);
  }
  const [mail, ...others] = await outbox(workspace);
  expect(others).toEqual([]);
  for (const words of ['Of main', 'Of west']) expect(mail).toContain(words);

  workspace.configure({ reminders: { ...reminders, digest: '09:00' } }, { renamed: { reminders } });
  await using app = await open();
  await planMails(app);
  await using _works = await workMails(app);
  await planMails(app);
  expect(await digests()).toEqual([{ connection: 'main', state: 'sent' }]);
  expect(await outbox(workspace)).toHaveLength(1);
});
