import { expect, test } from 'vitest';
import { localDateOf } from '../../../src/reminders/plan/local-time.ts';
import { planDigests } from '../../../src/reminders/plan/plan-digests.ts';
import { usualWaits } from '../../../src/reminders/send/mail-limits.ts';
import { advanceBaselines } from '../../support/advance-baselines.ts';
import { hoursAheadAtNoon, zoneAhead } from '../../support/daytime-zone.ts';
import { body, header } from '../../support/due-lead.ts';
import { startMailServer, startRawServer } from '../../support/mail-server.ts';
import { reminderScene } from '../../support/reminder-scene.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

const { doubtMs } = usualWaits;
const anna = 'anna@example.com';
const day = 24 * 3_600_000;

/** A zone in which it is about noon now, so that no test is run into by midnight. */
const timeZone = zoneAhead(hoursAheadAtNoon());
const reminders = { from: 'sales@example.com', to: [anna], timeZone, before: [], digest: '08:00' };
const fromNow = (ms: number): string => new Date(Date.now() + ms).toISOString();

/** Leads whose follow-ups are due n days from now, and today's digest, which is due now. */
async function digestScene(port: number, days: readonly number[]) {
  await using stack = new AsyncDisposableStack();
  const workspace = stack.use(
    await Workspace.open({
      connection: { reminders },
      env: { SMTP_URL: `smtp://127.0.0.1:${port}` },
    }),
  );
  for (const by of days) {
    workspace.sandbox.leads.add({ companyName: `In ${by} days AG`, nextFollowUpAt: fromNow(by * day) });
  }
  await workspace.sync();
  const scene = stack.use(await reminderScene(workspace));
  await scene.plan();
  const { rows } = await scene.pool.query<{ id: number }>(
    `insert into mails (connection, kind, recipient, local_date, send_at) values ($1, 'digest', $2, $3, now()) returning id`,
    [connectionName, anna, localDateOf(Date.now(), timeZone)],
  );
  const id = rows[0]?.id ?? 0;
  const owned = stack.move();
  return {
    ...scene,
    sendDigest: () => scene.send(id),
    digest: async () => {
      const found = await scene.pool.query<object>(
        `select state, resends, note from mails where kind = 'digest'`,
      );
      return found.rows;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test('one mail about all that is due, in its groups; once', async () => {
  await using server = await startMailServer();
  await using scene = await digestScene(server.port, [-2, 0, 3, 30]);
  expect(await scene.sendDigest()).toEqual({ state: 'sent' });
  expect(await scene.sendDigest()).toEqual({ state: 'sent' });
  expect(server.mails.map(({ to }) => to)).toEqual([[anna]]);
  const text = (server.mails[0]?.source ?? '').toLowerCase();
  const places = ['today', 'in 0 days ag', 'overdue', 'in -2 days ag', 'next seven days', 'in 3 days ag'];
  const found = places.map((words) =>
    text.indexOf(words, text.indexOf('\r\n\r\n', text.indexOf('text/plain'))),
  );
  expect(found).toEqual(found.toSorted((a, b) => a - b));
  expect(found).not.toContain(-1);
  expect(text).not.toContain('in 30 days ag');
});

test('1,200 are overdue: those of today are shown all the same, and each count is true', async () => {
  await using server = await startMailServer();
  await using scene = await digestScene(server.port, [0, 3]);
  const old = Array.from({ length: 1_200 }, (_, n) => ({
    leadId: `old${n}`,
    values: { companyName: `Old ${n} AG`, nextFollowUpAt: fromNow(-2 * day - n * 60_000) },
  }));
  await advanceBaselines(scene.pool, connectionName, old);
  // As if a run had done it.
  await scene.pool.query('update connections set planned_run = null');
  await scene.plan();
  expect(await scene.sendDigest()).toEqual({ state: 'sent' });
  const text = body(server.mails[0]?.source ?? '');
  expect(header(text, 'Subject')).toContain('1 today, 1,200 overdue, 1 in the next seven days');
  for (const words of ['Overdue (1,200)', 'Today (1)', 'In 0 days AG', 'Next seven days (1)', 'In 3 days AG'])
    expect(text).toContain(words);
  expect(text).toContain('and 1,152 more');
  expect(text).toContain('1,152 more are not shown here, 1,202 in all');
});

test('nothing is due: skipped, no mail', async () => {
  await using server = await startMailServer();
  await using scene = await digestScene(server.port, [30]);
  expect(await scene.sendDigest()).toEqual({ state: 'skipped' });
  expect(await scene.digest()).toMatchObject([{ state: 'skipped' }]);
  expect(server.mails).toEqual([]);
});

test('its day is over: missed', async () => {
  await using server = await startMailServer();
  await using scene = await digestScene(server.port, [0]);
  scene.pass(20 * 3_600_000);
  expect(await scene.sendDigest()).toEqual({ state: 'missed' });
  expect(server.mails).toEqual([]);
});

test('the connection ends after DATA: once more, with the same Message-ID', async () => {
  await using server = await startRawServer({ message: 'drop' });
  await using scene = await digestScene(server.port, [0]);
  expect(await scene.sendDigest()).toEqual({ againAfterMs: doubtMs });
  scene.pass(doubtMs);
  server.answer('message', '250 2.0.0 queued');
  expect(await scene.sendDigest()).toEqual({ state: 'sent' });
  const ids = server.taken.map((source) => /^Message-ID: (.*)$/im.exec(source)?.[1]);
  expect(ids).toHaveLength(2);
  expect(ids[1]).toBe(ids[0]);
});

test('nothing is due, but an edit waits for a decision: told to whose lead it is, once a day', async () => {
  await using server = await startMailServer();
  await using workspace = await Workspace.open({
    connection: { reminders },
    beside: { publicUrl: 'http://127.0.0.1:3000' },
    env: { SMTP_URL: `smtp://127.0.0.1:${server.port}` },
  });
  const { sandbox, sheet } = workspace;
  const { id } = sandbox.leads.add({ companyName: 'Both AG', city: 'Ulm', nextFollowUpAt: null });
  await workspace.sync();
  sandbox.leads.edit(id, { city: 'Köln' });
  sheet.edit(() => true, { City: 'Bonn' });
  await workspace.sync();
  await using scene = await reminderScene(workspace);
  await planDigests(scene.pool, scene.app.config.configured);
  const planned = await scene.pool.query<{ id: number }>(`select id from mails where kind = 'digest'`);
  expect(planned.rows).toHaveLength(1);
  await scene.pool.query('update mails set local_date = $1, send_at = now()', [
    localDateOf(Date.now(), timeZone),
  ]);
  expect(await scene.send(planned.rows[0]?.id ?? 0)).toEqual({ state: 'sent' });
  const text = body(server.mails[0]?.source ?? '');
  expect(header(text, 'Subject')).toBe('1 edit of your leads waits for a decision');
  expect(text).toContain('- Both AG');
  expect(text).toContain('Decide: http://127.0.0.1:3000/conflicts');
  expect(text).not.toContain('Next seven days');
  // Decided: nobody waits for anything.
  expect((await workspace.cli('resolve', 'Both AG', '--use', 'lead')).code).toBe(0);
  await scene.pool.query('delete from mails');
  await planDigests(scene.pool, scene.app.config.configured);
  expect((await scene.pool.query('select from mails')).rows).toEqual([]);
});
