import { expect, test } from 'vitest';
import { usualWaits } from '../../../src/reminders/send/mail-limits.ts';
import { acquireLease } from '../../../src/store/leases.ts';
import { createMailLedger, type MailLedger } from '../../../src/store/mail-ledger.ts';
import { dueLead } from '../../support/due-lead.ts';
import { startMailServer } from '../../support/mail-server.ts';
import { reminderScene } from '../../support/reminder-scene.ts';
import { until } from '../../support/until.ts';
import { connectionName } from '../../support/workspace.ts';

const { cutOffMs } = usualWaits;
const hour = 3_600_000;

/** A mail server that answers RCPT TO on demand; from then on at once. */
async function hesitantServer() {
  const asked: (() => void)[] = [];
  let isSlow = true;
  const server = await startMailServer({
    onRcptTo: (_address, _session, callback) => {
      if (isSlow) asked.push(() => callback(null));
      else callback(null);
    },
  });
  return Object.assign(server, {
    asked,
    hurry: () => {
      isSlow = false;
    },
  });
}

test('a mail that another process hands to the server is left alone as long as that lives, however long it takes', async () => {
  await using server = await hesitantServer();
  await using scene = await dueLead(server.port);
  await using other = await reminderScene(scene.workspace);
  const sending = scene.send(scene.id);
  await until('it is handed over', () => server.asked.length === 1);
  server.hurry();
  for (let times = 0; times < 3; times++) {
    other.pass(hour);
    expect(await other.send(scene.id)).toEqual('waits');
    // Nor by another job of the same process.
    expect(await scene.send(scene.id)).toEqual('waits');
  }
  for (const answer of server.asked) answer();
  expect(await sending).toEqual({ state: 'sent' });
  expect(await other.send(scene.id)).toEqual({ state: 'sent' });
  expect(server.mails).toHaveLength(1);
  expect((await scene.states())[0]).toMatchObject({ state: 'sent', attempts: 1 });
});

test('a process that is gone: its mail is sent again after the longest time that one may take, and not before', async () => {
  await using server = await startMailServer();
  await using scene = await dueLead(server.port);
  const lease = await acquireLease(scene.pool, 'mails of a process that dies');
  await scene.pool.query(
    `update mails set state = 'sending', attempts = 1, sender = $1, updated_at = now()`,
    [lease?.token],
  );
  scene.pass(2 * cutOffMs);
  expect(await scene.send(scene.id), 'it lives').toEqual('waits');
  await lease?.[Symbol.asyncDispose]();
  await scene.pool.query(`update mails set updated_at = now()`);
  scene.pass(cutOffMs - 30_000);
  expect(await scene.send(scene.id)).toBe('waits');
  expect(server.mails).toEqual([]);
  scene.pass(30_000);
  expect(await scene.send(scene.id)).toEqual({ state: 'sent' });
  expect(server.mails).toHaveLength(1);
});

const work = { connection: connectionName, isChat: false };
const stop = new AbortController().signal;
/** Takes the only mail up. */
async function take(ledger: MailLedger, waits = usualWaits) {
  const [taken] = (await ledger.take(work, waits, 1)) ?? [];
  if (taken === undefined) throw new Error('there is no mail');
  return { ...taken.mail, firstTriedAt: Date.now() };
}

test('a process that comes back after another took its mail over changes nothing of what that one notes', async () => {
  await using server = await startMailServer();
  await using scene = await dueLead(server.port);
  const { pool, id } = scene;
  await using ledger = createMailLedger(pool);
  expect(await ledger.begin(await take(ledger))).toBe(true);
  // Its lease ended while it was away.
  await pool.query(`delete from leases where name like 'mails %'`);
  await using other = createMailLedger(pool);
  const again = await take(other, { ...usualWaits, cutOffMs: 0 });
  expect(await other.begin(again)).toBe(true);
  await ledger.end({ id, state: 'scheduled', note: 'not sent' }, stop);
  expect((await scene.states())[0]).toMatchObject({ state: 'sending', attempts: 2 });
  await other.end({ id, state: 'sent', note: 'ok' }, stop);
  await ledger.end({ id, state: 'failed', note: 'not sent' }, stop);
  expect((await scene.states())[0]).toMatchObject({ state: 'sent', note: 'ok' });
});

test('a mail that a process has taken up is taken by no other, and begun by none that has lost it', async () => {
  await using server = await startMailServer();
  await using scene = await dueLead(server.port);
  const { pool } = scene;
  await using ledger = createMailLedger(pool);
  await using other = createMailLedger(pool);
  const taken = await take(ledger);
  expect(await other.take(work, usualWaits, 1)).toEqual([]);
  expect(await ledger.take(work, usualWaits, 1), 'nor twice by itself').toEqual([]);
  await pool.query(`delete from leases where name like 'mails %'`);
  const next = await take(other);
  expect(await ledger.begin(taken)).toBe(false);
  expect(await other.begin(next)).toBe(true);
});

test('jobs of one process that take mails up at once have no mail in hand twice', async () => {
  await using server = await startMailServer();
  await using scene = await dueLead(server.port);
  const { pool, app } = scene;
  const count = 50;
  await pool.query(
    `insert into mails (connection, lead_id, due_at, offset_text, recipient, send_at)
     select $1, 'lead-' || n, now(), '0m', 'anna@example.com', now() - interval '1 minute' from generate_series(2, $2) n`,
    [connectionName, count],
  );
  const takes = await Promise.all(Array.from({ length: 12 }, () => app.ledger.take(work, usualWaits, 10)));
  const ids = takes.flatMap((taken) => (taken ?? []).map(({ mail }) => mail.id));
  expect(ids).toHaveLength(count);
  expect(new Set(ids).size).toBe(count);
});

test('a mail that was planned anew since it was taken up is not begun as it was', async () => {
  await using server = await startMailServer();
  await using scene = await dueLead(server.port);
  const { pool, app } = scene;
  const taken = await take(app.ledger);
  // The calendar's sequence has gone up, at the same moment.
  await pool.query(`update mails set sequence = sequence + 1`);
  expect(await app.ledger.begin(taken)).toBe(false);
  await app.ledger.end({ id: taken.id, state: null, note: null, waitMs: 0 }, stop);
  expect((await scene.states())[0]).toMatchObject({ state: 'scheduled', attempts: 0 });
  expect(await take(app.ledger)).toMatchObject({ sequence: 1 });
});

test('the database is away when a mail has been taken: it is noted when the database is back, and not sent again', async () => {
  await using server = await hesitantServer();
  await using scene = await dueLead(server.port);
  const sending = scene.send(scene.id);
  await until('it is handed over', () => server.asked.length === 1);
  const { pool } = scene.workspace.database;
  const { rows } = await pool.query<{ name: string }>(`select current_database() as name`);
  const cut = (): Promise<unknown> =>
    pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()`,
      [rows[0]?.name],
    );
  await pool.query(`alter database ${rows[0]?.name} connection limit 1`);
  await cut();
  for (const answer of server.asked) answer();
  await until('it is taken', () => server.mails.length === 1);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  await pool.query(`alter database ${rows[0]?.name} connection limit -1`);
  expect(await sending).toEqual({ state: 'sent' });
  expect((await scene.states())[0]).toMatchObject({ state: 'sent', attempts: 1 });
  expect(server.mails).toHaveLength(1);
});

test('what waits for its turn is not begun, and is not sent when it was called off meanwhile', async () => {
  await using server = await hesitantServer();
  await using scene = await dueLead(server.port);
  scene.workspace.env['SMTP_URL'] = `smtp://127.0.0.1:${server.port}?maxConnections=1`;
  await using narrow = await reminderScene(scene.workspace);
  const first = narrow.app.mailer.send({
    key: 'first',
    from: 'sales@example.com',
    to: 'ben@example.com',
    subject: 'first',
    text: '',
    html: '',
    thread: 'first',
    date: 0,
  });
  await until('the only connection is taken', () => server.asked.length === 1);
  const waiting = narrow.send(scene.id);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect((await scene.states())[0]).toMatchObject({ state: 'scheduled', attempts: 0 });
  await scene.pool.query(`update mails set state = 'cancelled'`);
  server.hurry();
  for (const answer of server.asked) answer();
  await first;
  expect(await waiting).toEqual({ againAfterMs: 0 });
  expect(server.mails).toHaveLength(1);
  expect((await scene.states())[0]).toMatchObject({ state: 'cancelled' });
});
