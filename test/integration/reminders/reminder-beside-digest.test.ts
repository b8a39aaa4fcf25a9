import { expect, test } from 'vitest';
import { localDateOf } from '../../../src/reminders/plan/local-time.ts';
import { hoursAheadAtNoon, zoneAhead } from '../../support/daytime-zone.ts';
import { startMailServer } from '../../support/mail-server.ts';
import { reminderScene } from '../../support/reminder-scene.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

const anna = 'anna@example.com';
const day = 24 * 3_600_000;

/** A zone in which it is about noon now, so that no test is run into by midnight. */
const timeZone = zoneAhead(hoursAheadAtNoon());

/** A reminder whose follow-up is due n days from now, and a digest to the same person, both due in this minute. */
async function bothInOneMinute(port: number, more: object = {}, days = 0) {
  await using stack = new AsyncDisposableStack();
  const reminders = {
    from: 'sales@example.com',
    to: ['Anna@example.com'],
    timeZone,
    digest: '08:00',
    ...more,
  };
  const workspace = stack.use(
    await Workspace.open({ connection: { reminders }, env: { SMTP_URL: `smtp://127.0.0.1:${port}` } }),
  );
  const nextFollowUpAt = new Date(Date.now() + days * day).toISOString();
  workspace.sandbox.leads.add({ companyName: 'One AG', nextFollowUpAt });
  await workspace.sync();
  const scene = stack.use(await reminderScene(workspace));
  await scene.plan();
  const { rows } = await scene.pool.query<{ id: number; kind: string }>(
    `with r as (update mails set send_at = date_trunc('minute', now()) where kind = 'reminder' returning id, kind),
       d as (insert into mails (connection, kind, recipient, local_date, send_at)
         values ($1, 'digest', $2, $3, date_trunc('minute', now()) + interval '1 ms') returning id, kind)
     select * from r union all select * from d`,
    [connectionName, anna, localDateOf(Date.now(), timeZone)],
  );
  const idOf = (kind: string) => rows.find((row) => row.kind === kind)?.id ?? 0;
  const owned = stack.move();
  return {
    ...scene,
    send: () => scene.send(idOf('reminder')),
    setDigest: (state: string) =>
      scene.pool.query(`update mails set state = $1 where kind = 'digest'`, [state]),
    sendDigest: () => scene.send(idOf('digest')),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const waits = { againAfterMs: expect.any(Number) as number };

test('a reminder of the same minute waits for the digest, which says it instead', async () => {
  await using server = await startMailServer();
  await using scene = await bothInOneMinute(server.port);
  expect(await scene.send()).toEqual(waits);
  // The process that sends the digest has died, and nobody knows what came of it.
  await scene.setDigest('sending');
  expect(await scene.send()).toEqual(waits);
  await scene.setDigest('scheduled');
  expect(await scene.sendDigest()).toEqual({ state: 'sent' });
  expect(await scene.states()).toMatchObject([
    { state: 'skipped', note: 'the digest of the same minute says the same' },
  ]);
  expect(await scene.send()).toEqual({ state: 'skipped' });
  await scene.plan();
  expect(await scene.states()).toMatchObject([{ state: 'skipped' }]);
  // As it is spelled in the settings.
  expect(server.mails.map(({ to }) => to)).toEqual([['Anna@example.com']]);
});

test.each(['missed', 'failed', 'skipped'])('it is sent when the digest is %s', async (state) => {
  await using server = await startMailServer();
  await using scene = await bothInOneMinute(server.port);
  await scene.setDigest(state);
  expect(await scene.send()).toEqual({ state: 'sent' });
});

test('it is sent after a digest that has not shown the lead, and when the digest takes too long', async () => {
  await using server = await startMailServer();
  await using far = await bothInOneMinute(server.port, {}, 20);
  expect(await far.send()).toEqual(waits);
  expect(await far.sendDigest()).toEqual({ state: 'skipped' });
  expect(await far.send()).toEqual({ state: 'sent' });
  await using slow = await bothInOneMinute(server.port);
  slow.pass(31 * 60_000);
  expect(await slow.send()).toEqual({ state: 'sent' });
});

test('it is sent at once when it brings a calendar entry, which the digest does not', async () => {
  await using server = await startMailServer();
  await using scene = await bothInOneMinute(server.port, { calendar: true });
  expect(await scene.send()).toEqual({ state: 'sent' });
  expect(await scene.sendDigest()).toEqual({ state: 'sent' });
  expect(server.mails).toHaveLength(2);
});
