import { beginFeeds, feedTokens } from '../../../src/store/keeper.ts';
import { expect, test } from 'vitest';
import { localDateOf } from '../../../src/reminders/plan/local-time.ts';
import { planDigests } from '../../../src/reminders/plan/plan-digests.ts';
import { planReminders } from '../../../src/reminders/plan/plan-reminders.ts';
import { advanceBaselines } from '../../support/advance-baselines.ts';
import { hoursAheadAtNoon, zoneAhead } from '../../support/daytime-zone.ts';
import { body, header } from '../../support/due-lead.ts';
import { startMailServer } from '../../support/mail-server.ts';
import { reminderScene } from '../../support/reminder-scene.ts';
import { Workspace } from '../../support/workspace.ts';

const anna = 'anna@example.com';
const day = 24 * 3_600_000;

/** A zone in which it is about noon now, so that no test is run into by midnight. */
const ahead = hoursAheadAtNoon(7);
const timeZone = zoneAhead(ahead);
const today = localDateOf(Date.now(), timeZone);
/** What the dates of the tables mean: seven hours behind the recipients. */
const tableZone = zoneAhead(ahead - 7);

const reminders = { to: [anna], timeZone, before: [], digest: '08:00' };
const main = { sync: { timeZone: tableZone }, reminders: { from: 'Main <main@example.com>', ...reminders } };
const west = {
  sync: { timeZone: tableZone },
  reminders: {
    from: 'west@example.com',
    leadUrl: 'https://west.example.com/{id}',
    ...reminders,
  },
};

/** Follow-ups by connection and lead, planned; `send` sends today's digest of Anna, which is due now. */
async function scene(port: number, dues: Readonly<Record<string, Readonly<Record<string, string>>>>) {
  await using stack = new AsyncDisposableStack();
  const workspace = stack.use(
    await Workspace.open({
      connection: main,
      others: { west },
      beside: { publicUrl: 'https://leadsync.example.com' },
      env: { SMTP_URL: `smtp://127.0.0.1:${port}` },
    }),
  );
  const mails = stack.use(await reminderScene(workspace));
  const { app, pool } = mails;
  const { configured } = app.config;
  const plan = async () => {
    await pool.query('update connections set planned_run = null');
    for (const connection of configured) await planReminders(pool, connection);
    await planDigests(pool, configured);
  };
  for (const { name } of configured) {
    await pool.query(
      `insert into runs (connection, mode, base_url, settings_hash, status, finished_at)
       values ($1, 'sync', 'x', 'x', 'succeeded', now())`,
      [name],
    );
    const leads = Object.entries(dues[name] ?? {});
    await advanceBaselines(
      pool,
      name,
      leads.map(([leadId, due]) => ({
        leadId,
        values: { companyName: `${leadId} AG`, nextFollowUpAt: due },
      })),
    );
  }
  await plan();
  await pool.query(
    `update mails set local_date = $1, send_at = now() - interval '1 second' where kind = 'digest'`,
    [today],
  );
  const owned = stack.move();
  return {
    pool,
    plan,
    send: async () => {
      const { rows } = await pool.query<{ id: number; connection: string }>(
        `select id, connection from mails where kind = 'digest' and local_date = $1`,
        [today],
      );
      const [digest = { id: 0, connection: '' }] = rows;
      await mails.use(digest.connection);
      return mails.send(digest.id);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const isoAt = (date: string, hours: number, zoneHours: number): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + (hours - zoneHours) * 3_600_000).toISOString();
const dateIn = (days: number): string => localDateOf(Date.now() + days * day, timeZone);
/** A date without a time, as a table has it. */
const dateOnly = (days: number): string => isoAt(dateIn(days), 0, ahead - 7);
const timed = (days: number, hours: number): string => isoAt(dateIn(days), hours, ahead);

test('one mail of both connections: each lead once, in its group, with its connection and its own link', async () => {
  await using server = await startMailServer();
  await using here = await scene(server.port, {
    main: { today: dateOnly(0), old: timed(-3, 9), far: dateOnly(8) },
    west: { yesterday: dateOnly(-1), week: dateOnly(7), noon: timed(0, 12) },
  });
  await beginFeeds(here.pool, ['anna@example.com']);
  const tokens = await feedTokens(here.pool, ['anna@example.com']);
  expect(await here.send()).toEqual({ state: 'sent' });
  expect(await here.send()).toEqual({ state: 'sent' });
  expect(server.mails).toHaveLength(1);
  const text = body(server.mails[0]?.source ?? '');
  expect(header(text, 'From')).toBe('Main <main@example.com>');
  expect(header(text, 'Subject')).toContain('2 today, 2 overdue, 1 in the next seven days');
  const lines = text.slice(text.indexOf('text/plain'), text.indexOf('text/html'));
  const places = ['Today (2)', 'today AG', 'noon AG', 'Overdue (2)', 'yesterday AG', 'old AG', 'week AG'];
  const found = places.map((words) => lines.indexOf(words));
  expect(found).toEqual(found.toSorted((a, b) => a - b));
  expect(found).not.toContain(-1);
  expect(lines).not.toContain('far AG');
  expect(lines).toContain('https://west.example.com/noon');
  expect(lines).not.toContain('https://west.example.com/today');
  expect(lines).toContain(`https://leadsync.example.com/calendar/${tokens.get('anna@example.com')}.ics`);
  for (const name of ['main', 'west']) expect(lines, name).toContain(` =C2=B7 ${name}\r\n`);
});

test('100,000 are overdue: each count is true, and those of today are there', async () => {
  await using server = await startMailServer();
  await using here = await scene(server.port, { main: { today: dateOnly(0) }, west: { noon: timed(0, 12) } });
  for (const name of ['main', 'west']) {
    await here.pool.query(
      `insert into pairs (connection, lead_id, base) select $1, 'old' || n, jsonb_build_object('companyName', 'Old ' || n)
       from generate_series(1, 50000) n`,
      [name],
    );
    await here.pool.query(
      `insert into follow_ups (connection, lead_id, seen, due_at, recipients)
       select $1, 'old' || n, 's', date_trunc('minute', now()) - interval '2 days' - n * interval '1 minute', array[$2]
       from generate_series(1, 50000) n`,
      [name, anna],
    );
  }
  await here.pool.query('analyze');
  expect(await here.send()).toEqual({ state: 'sent' });
  const text = body(server.mails[0]?.source ?? '');
  expect(header(text, 'Subject')).toContain('2 today, 100,000 overdue');
  for (const words of ['today AG', 'noon AG', 'Old 1', '100,002 in all']) expect(text).toContain(words);
});
