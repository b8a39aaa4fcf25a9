import type { SMTPServerOptions } from 'smtp-server';
import { describe, expect, test } from 'vitest';
import { usualWaits } from '../../../src/reminders/send/mail-limits.ts';
import { dueLead, header } from '../../support/due-lead.ts';
import {
  freePort,
  refusal,
  type Script,
  startMailServer,
  startRawServer,
} from '../../support/mail-server.ts';
import { reminderScene } from '../../support/reminder-scene.ts';

const minute = 60_000;
const { doubtMs } = usualWaits;
const anna = 'anna@example.com';
const stopped = { againAfterMs: 5 * minute, isOfSender: true };

describe('the mail server', () => {
  test('ends the connection after DATA: once more with the same Message-ID and Date, after a delay', async () => {
    const script: Script = { message: 'drop' };
    await using server = await startRawServer(script);
    await using scene = await dueLead(server.port);
    expect(await scene.send(scene.id)).toEqual({ againAfterMs: doubtMs });
    expect(await scene.states()).toMatchObject([{ state: 'sending', attempts: 1 }]);
    expect(await scene.send(scene.id)).toBe('waits');
    expect(server.taken).toHaveLength(1);
    scene.pass(doubtMs);
    server.answer('message', '250 2.0.0 queued');
    expect(await scene.send(scene.id)).toEqual({ state: 'sent' });
    expect(server.taken).toHaveLength(2);
    const [first = '', second = ''] = server.taken;
    expect(header(second, 'Message-ID')).toMatch(/^<.+@example\.com>$/);
    for (const name of ['Message-ID', 'Date']) expect(header(second, name)).toBe(header(first, name));
  });

  test('ends it twice: failed, with a note and an error in the log', async () => {
    await using server = await startRawServer({ message: 'drop' });
    await using scene = await dueLead(server.port);
    await scene.send(scene.id);
    scene.pass(doubtMs);
    expect(await scene.send(scene.id)).toEqual({ state: 'failed' });
    expect((await scene.states())[0]?.note).toContain('sent twice');
    expect(scene.log.map(({ level }) => level)).toEqual([40, 50]);
    expect(server.taken).toHaveLength(2);
    expect(await scene.send(scene.id)).toEqual({ state: 'failed' });
    expect(server.taken).toHaveLength(2);
  });

  test('greylists: tried again after 5 to 15 minutes, then sent', async () => {
    let visits = 0;
    await using server = await startMailServer({
      onRcptTo: (_address, _session, callback) =>
        callback(++visits <= 2 ? refusal(451, '4.7.1 greylisted') : null),
    });
    await using scene = await dueLead(server.port);
    for (let attempts = 0; attempts < 2; attempts++) {
      const outcome = await scene.send(scene.id);
      expect(outcome).toEqual({ againAfterMs: 10 * minute });
    }
    expect(await scene.states()).toMatchObject([{ state: 'scheduled', attempts: 2 }]);
    expect(await scene.send(scene.id)).toEqual({ state: 'sent' });
    expect(server.mails).toHaveLength(1);
  });

  test('defers, after one of which nobody knows: what was certainly not sent is no second doubt', async () => {
    await using server = await startRawServer({ message: 'drop' });
    await using scene = await dueLead(server.port);
    await scene.send(scene.id);
    scene.pass(doubtMs);
    server.answer('RCPT', '451 4.3.0 not now');
    expect(await scene.send(scene.id)).toMatchObject({ againAfterMs: 10 * minute });
    server.answer('RCPT', '250 2.1.5 ok');
    server.answer('message', '250 2.0.0 queued');
    expect(await scene.send(scene.id)).toEqual({ state: 'sent' });
    expect(server.taken).toHaveLength(2);
  });

  test('rejects: failed with its words, and an error in the log', async () => {
    await using server = await startMailServer({
      onRcptTo: (_address, _session, callback) => callback(refusal(550, '5.1.1 no such user here')),
    });
    await using scene = await dueLead(server.port);
    expect(await scene.send(scene.id)).toEqual({ state: 'failed' });
    expect((await scene.states())[0]?.note).toContain('no such user here');
    expect(scene.log).toMatchObject([{ level: 50, code: 'mail.refused' }]);
  });

  test('is not there: tried again, the reminder stays scheduled', async () => {
    await using scene = await dueLead(await freePort());
    expect(await scene.send(scene.id)).toEqual({ againAfterMs: 10 * minute });
    expect(await scene.states()).toMatchObject([{ state: 'scheduled' }]);
  });

  test('does not let us in: all wait, with one error in the log until it works again', async () => {
    let right = false;
    const options: SMTPServerOptions = {
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      authOptional: false,
      onAuth: (_auth, _session, callback) =>
        right ? callback(null, { user: 1 }) : callback(refusal(535, '5.7.8 wrong password')),
    };
    await using server = await startMailServer(options);
    await using scene = await dueLead(server.port);
    scene.workspace.env['SMTP_URL'] = `smtp://sales:guess@127.0.0.1:${server.port}`;
    await using again = await reminderScene(scene.workspace);
    for (let attempts = 0; attempts < 3; attempts++)
      expect(await again.send(scene.id)).toEqual({ againAfterMs: 5 * minute, isOfServer: true });
    expect(again.log).toMatchObject([{ level: 50, code: 'mail.credentials' }]);
    right = true;
    expect(await again.send(scene.id)).toEqual({ state: 'sent' });
    expect(again.log).toHaveLength(1);
  });

  test('refuses two recipients by policy and takes a third: the two fail with its words, nobody else waits', async () => {
    const refused = [anna, 'ben@example.com'];
    await using server = await startMailServer({
      onRcptTo: ({ address }, _session, callback) =>
        callback(refused.includes(address) ? refusal(550, '5.7.1 not allowed to mail this group') : null),
    });
    await using scene = await dueLead(server.port, { reminders: { to: [...refused, 'cy@example.com'] } });
    const [first = 0, second = 0, third = 0] = (await scene.plan()).map(({ id }) => id);
    for (const id of [first, second])
      expect(await scene.send(id)).toEqual({ againAfterMs: expect.any(Number) });
    expect(await scene.send(third)).toEqual({ state: 'sent' });
    for (const id of [first, second]) expect(await scene.send(id)).toEqual({ state: 'failed' });
    expect((await scene.states())[0]?.note).toContain('not allowed to mail this group');
    const errors = scene.log.filter(({ level }) => level === 50);
    expect(errors.map(({ code }) => code)).toEqual(Array(2).fill('mail.policy-refused'));
  });

  test('refuses three recipients in a row by policy: all wait, one is told, and another one tries first', async () => {
    let open = false;
    await using server = await startMailServer({
      onRcptTo: (_address, _session, callback) =>
        callback(open ? null : refusal(550, '5.7.1 relaying denied')),
    });
    const to = [anna, 'ben@example.com', 'cy@example.com', 'dora@example.com'];
    await using scene = await dueLead(server.port, { reminders: { to } });
    const [a = 0, b = 0, c = 0, d = 0] = (await scene.plan()).map(({ id }) => id);
    for (const id of [a, b]) expect(await scene.send(id)).toEqual({ againAfterMs: expect.any(Number) });
    expect(await scene.send(c)).toEqual(stopped);
    expect(await scene.send(a)).toEqual({ againAfterMs: expect.any(Number) });
    expect((await scene.states())[0]?.attempts, 'not tried').toBe(1);
    scene.pass(5 * minute);
    expect(await scene.send(d)).toEqual(stopped);
    scene.pass(10 * minute);
    open = true;
    for (const id of [d, a, b, c]) expect(await scene.send(id)).toEqual({ state: 'sent' });
    expect(scene.log.filter(({ level }) => level === 50)).toHaveLength(1);
  });

  test('refuses the only recipient by policy: tried five times, then failed with its words', async () => {
    await using server = await startMailServer({
      onRcptTo: (_address, _session, callback) => callback(refusal(550, '5.7.1 not for you')),
    });
    await using scene = await dueLead(server.port);
    for (let attempts = 0; attempts < 4; attempts++)
      expect(await scene.send(scene.id)).toEqual({ againAfterMs: 10 * minute });
    expect(await scene.send(scene.id)).toEqual({ state: 'failed' });
    expect((await scene.states())[0]?.note).toContain('not for you');
  });

  test('refuses the sender: all wait, one is told', async () => {
    await using server = await startRawServer({ MAIL: '550 5.7.1 this sender is not yours' });
    await using scene = await dueLead(server.port, { reminders: { to: [anna, 'ben@example.com'] } });
    for (const { id } of await scene.plan()) expect(await scene.send(id)).toEqual(stopped);
    expect(scene.log.filter(({ level }) => level === 50)).toHaveLength(1);
  });
});

describe('found in `sending` after a crash', () => {
  test('not before the delay is over; then sent once', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port);
    await scene.pool.query(`update mails set state = 'sending', attempts = 1, updated_at = now()`);
    expect(await scene.send(scene.id)).toBe('waits');
    expect(server.mails).toEqual([]);
    scene.pass(doubtMs);
    expect(await scene.send(scene.id)).toEqual({ state: 'sent' });
    expect(server.mails).toHaveLength(1);
  });

  test.each([1, 2])(
    'and %i times before: sent once more, with the Date of the first try',
    async (resends) => {
      await using server = await startMailServer();
      await using scene = await dueLead(server.port);
      await scene.pool.query(
        `update mails set state = 'sending', resends = $1, first_tried_at = '2026-01-02T03:04:05Z'`,
        [resends],
      );
      scene.pass(doubtMs);
      expect(await scene.send(scene.id)).toEqual({ state: 'sent' });
      expect(header(server.mails[0]?.source ?? '', 'Date')).toBe('Fri, 02 Jan 2026 03:04:05 +0000');
    },
  );

  test('after the mail server left it open twice, or after three deaths: failed', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port);
    await scene.pool.query(`update mails set state = 'sending', resends = 1, unknown_outcomes = 2`);
    scene.pass(doubtMs);
    expect(await scene.send(scene.id)).toEqual({ state: 'failed' });
    await scene.pool.query(
      `update mails set state = 'sending', resends = 3, unknown_outcomes = 0, updated_at = now()`,
    );
    scene.pass(doubtMs);
    expect(await scene.send(scene.id)).toEqual({ state: 'failed' });
    expect((await scene.states())[0]?.note).toContain('sent 4 times');
    expect(server.mails).toEqual([]);
  });
});
