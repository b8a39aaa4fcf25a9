import type { SMTPServerOptions } from 'smtp-server';
import { describe, expect, test } from 'vitest';
import { usualWaits } from '../../src/reminders/deliver.ts';
import { leadsPauseMs } from '../../src/reminders/pauses.ts';
import { sendReminder, unaskedMs } from '../../src/reminders/send-reminder.ts';
import type { LeadTable } from '../../src/sandbox/lead-table.ts';
import { type Script, startMailServer, startRawServer } from '../support/mail-server.ts';
import { reminderScene } from '../support/reminder-scene.ts';
import { Workspace } from '../support/workspace.ts';

const minute = 60_000;
const { doubtMs } = usualWaits;
const anna = 'anna@example.com';
const plain = { from: 'Sales <sales@example.com>', to: [anna], timeZone: 'UTC' };
const due = (agoMs: number): string => new Date(Date.now() - agoMs).toISOString();

/** A header of a mail as it arrived. */
function header(source: string, name: string): string {
  const lines = new RegExp(`^${name}: (.*(?:\\r\\n[ \\t].*)*)`, 'im').exec(source)?.[1] ?? '';
  return lines.replaceAll(/\r\n[ \t]+/g, ' ');
}

/** The text of a mail, without its transfer encoding (all texts here are ASCII). */
function body(source: string): string {
  return source.replaceAll(/=\r\n/g, '').replaceAll('=3D', '=');
}

/** The calendar entry of a mail. */
function calendarOf(source: string): string {
  const [, head = '', part = ''] = /text\/calendar([\s\S]*?)\r\n\r\n([\s\S]*?)\r\n--/.exec(source) ?? [];
  return head.includes('base64') ? Buffer.from(part, 'base64').toString() : part;
}

/** One lead that is due since `agoMs`, synced and planned, and a mail server at `port`. */
async function dueLead(
  port: number,
  { agoMs = 1_000, reminders = {}, lead = {} }: { agoMs?: number; reminders?: object; lead?: object } = {},
) {
  await using stack = new AsyncDisposableStack();
  const workspace = stack.use(
    await Workspace.open({
      connection: { reminders: { ...plain, ...reminders } },
      env: { SMTP_URL: `smtp://127.0.0.1:${port}` },
    }),
  );
  const { id: leadId } = workspace.sandbox.leads.add({
    companyName: 'Due AG',
    stage: 'new',
    nextFollowUpAt: due(agoMs),
    ...lead,
  });
  await workspace.sync();
  const scene = stack.use(await reminderScene(workspace));
  const [reminder] = await scene.plan();
  if (reminder === undefined) throw new Error('nothing was planned');
  const owned = stack.move();
  return {
    ...scene,
    workspace,
    leadId,
    id: reminder.id,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const refusal = (responseCode: number, words: string): Error =>
  Object.assign(new Error(words), { responseCode });

test('a mail is sent once, however often its job runs', async () => {
  await using server = await startMailServer();
  await using scene = await dueLead(server.port);
  expect(await scene.send(scene.id)).toEqual({ state: 'sent' });
  expect(await scene.send(scene.id)).toEqual({ state: 'sent' });
  expect(await scene.states()).toMatchObject([{ state: 'sent', attempts: 1 }]);
  expect(server.mails).toHaveLength(1);
  expect(header(server.mails[0]?.source ?? '', 'Subject')).toContain('Due_AG');
  expect(scene.log).toEqual([]);
});

test('two jobs of one reminder at once: one mail', async () => {
  await using server = await startMailServer();
  await using scene = await dueLead(server.port);
  await Promise.all([1, 2, 3, 4].map(() => scene.send(scene.id)));
  expect(server.mails).toHaveLength(1);
});

describe('before the mail leaves the lead is read again', () => {
  const edits: Readonly<Record<string, (leads: LeadTable, id: string) => void>> = {
    moved: (leads, id) => leads.edit(id, { nextFollowUpAt: '2040-01-01T09:00:00.000Z' }),
    cleared: (leads, id) => leads.edit(id, { nextFollowUpAt: null }),
    deleted: (leads, id) => leads.remove(id),
    'in a stage that is skipped': (leads, id) => leads.edit(id, { stage: 'Won' }),
    'in the region of somebody else': (leads, id) => leads.edit(id, { region: 'BY' }),
  };
  test.each(Object.keys(edits))('%s: no mail', async (what) => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port, {
      reminders: { skipStages: ['won'], routes: [{ when: { region: ['BY'] }, to: ['ben@example.com'] }] },
    });
    edits[what]?.(scene.workspace.sandbox.leads, scene.leadId);
    expect(await scene.send(scene.id)).toEqual({ state: 'cancelled' });
    expect(server.mails).toEqual([]);
  });

  test('moved and moved back before any sync: it is planned and sent after all', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port);
    const { leads } = scene.workspace.sandbox;
    const was = leads.list()[0]?.nextFollowUpAt ?? null;
    leads.edit(scene.leadId, { nextFollowUpAt: null });
    expect(await scene.send(scene.id)).toEqual({ state: 'cancelled' });
    leads.edit(scene.leadId, { nextFollowUpAt: was });
    const [again] = await scene.plan();
    expect(again?.id).toBe(scene.id);
    expect(await scene.send(scene.id)).toEqual({ state: 'sent' });
    expect(server.mails).toHaveLength(1);
  });

  test('a job of before it was scheduled anew does nothing', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port);
    await scene.pool.query(`update reminders set round = round + 1`);
    const job = { reminderId: scene.id, round: 0, requestedAt: 0 };
    const stale = await sendReminder(scene.sending(), job, new AbortController().signal);
    expect(stale).toEqual({ state: 'scheduled' });
    expect(server.mails).toEqual([]);
  });
});

describe('a service that cannot be asked', () => {
  test('429: tried again when it says so, without a request before', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port);
    const { sandbox } = scene.workspace;
    sandbox.set({
      faults: [{ kind: 'status', status: 429, retryAfter: { seconds: 2 }, when: { once: 1 }, on: ['get'] }],
    });
    const first = await scene.send(scene.id, Date.now());
    expect(first).toEqual({ againAfterMs: expect.any(Number), wholeQueue: false });
    expect('againAfterMs' in first ? first.againAfterMs : 0).toBeGreaterThanOrEqual(2_000);
    const asked = sandbox.stats.requests;
    expect(await scene.send(scene.id, Date.now())).toMatchObject({ wholeQueue: false });
    expect(sandbox.stats.requests).toBe(asked);
    expect(await scene.states()).toMatchObject([{ state: 'scheduled', attempts: 0 }]);
    expect(server.mails).toEqual([]);
  });

  test('an outage: not asked again by any mail for a minute; after half an hour sent with what is known', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port);
    const { sandbox } = scene.workspace;
    sandbox.set({ faults: [{ kind: 'status', status: 503, when: { every: 1 }, on: ['get'] }] });
    const firstAt = Date.now();
    const again = { againAfterMs: leadsPauseMs, wholeQueue: false };
    expect(await scene.send(scene.id, firstAt)).toEqual(again);
    expect(await scene.send(scene.id, firstAt)).toMatchObject({ wholeQueue: false });
    expect(sandbox.stats.byRoute.get).toBe(1);
    scene.pass(leadsPauseMs);
    expect(await scene.send(scene.id, firstAt)).toEqual(again);
    expect(sandbox.stats.byRoute.get).toBe(2);
    expect(server.mails).toEqual([]);

    scene.pass(unaskedMs - leadsPauseMs);
    expect(await scene.send(scene.id, firstAt)).toEqual({ state: 'sent' });
    expect(sandbox.stats.byRoute.get).toBe(3);
    expect(body(server.mails[0]?.source ?? '')).toMatch(
      /The Leads service could not be asked .* known at \d\d:\d\d/,
    );
  });

  test('one minute before the half hour is over it comes back for its end', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port);
    scene.workspace.sandbox.set({
      faults: [{ kind: 'status', status: 500, when: { every: 1 }, on: ['get'] }],
    });
    const from = Date.now();
    scene.pass(unaskedMs - 10_000);
    const outcome = await scene.send(scene.id, from);
    const wait = 'againAfterMs' in outcome ? outcome.againAfterMs : 0;
    expect(wait).toBeGreaterThan(5_000);
    expect(wait).toBeLessThanOrEqual(10_000);
  });
});

describe('late', () => {
  test('within the time of grace: sent, saying so', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port, { agoMs: 3 * 60 * minute });
    expect(await scene.send(scene.id)).toEqual({ state: 'sent' });
    expect(body(server.mails[0]?.source ?? '')).toContain('This mail comes late');
  });

  test('after it: missed', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port, { agoMs: 3 * 60 * minute });
    scene.pass(21 * 60 * minute + minute);
    expect(await scene.send(scene.id)).toEqual({ state: 'missed' });
    expect(server.mails).toEqual([]);
  });

  test('into the quiet hours: put off to their end, and not late by then', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port, { reminders: { grace: '1h' } });
    const minuteOfDay = (fromNow: number): number => {
      const text = new Date(Date.now() + fromNow).toISOString();
      return Number(text.slice(11, 13)) * 60 + Number(text.slice(14, 16));
    };
    // As when a mail is tried again some minutes later.
    scene.setRules({ quietHours: { from: minuteOfDay(-minute), to: minuteOfDay(120 * minute) } });
    const outcome = await scene.send(scene.id);
    const wait = 'againAfterMs' in outcome ? outcome.againAfterMs : 0;
    expect(wait).toBeGreaterThan(118 * minute);
    expect(wait).toBeLessThanOrEqual(120 * minute);
    expect(server.mails).toEqual([]);
    scene.pass(wait);
    expect(await scene.send(scene.id)).toEqual({ state: 'sent' });
  });
});

describe('the mail server', () => {
  test('ends the connection after DATA: once more with the same Message-ID and Date, after a delay', async () => {
    const script: Script = { message: 'drop' };
    await using server = await startRawServer(script);
    await using scene = await dueLead(server.port);
    expect(await scene.send(scene.id)).toEqual({ againAfterMs: doubtMs, wholeQueue: false });
    expect(await scene.states()).toMatchObject([{ state: 'sending', attempts: 1 }]);
    expect(await scene.send(scene.id)).toEqual({ againAfterMs: expect.any(Number), wholeQueue: false });
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

  test('ends it, and doubtful mails are held: failed after one', async () => {
    await using server = await startRawServer({ message: 'drop' });
    await using scene = await dueLead(server.port, { reminders: { onUnknown: 'hold' } });
    expect(await scene.send(scene.id)).toEqual({ state: 'failed' });
    expect((await scene.states())[0]?.note).toContain('may have arrived');
  });

  test('greylists: tried again after 5 to 15 minutes, then sent', async () => {
    let visits = 0;
    await using server = await startMailServer({
      onRcptTo: (_address, _session, callback) =>
        callback(++visits <= 2 ? refusal(451, '4.7.1 greylisted') : null),
    });
    await using scene = await dueLead(server.port);
    for (let tries = 0; tries < 2; tries++) {
      const outcome = await scene.send(scene.id);
      expect(outcome).toEqual({ againAfterMs: 10 * minute, wholeQueue: false });
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
    let port = 0;
    {
      await using server = await startMailServer();
      port = server.port;
    }
    await using scene = await dueLead(port);
    expect(await scene.send(scene.id)).toEqual({ againAfterMs: 10 * minute, wholeQueue: false });
    expect(await scene.states()).toMatchObject([{ state: 'scheduled' }]);
  });

  test('does not let us in: the whole queue waits, with one error in the log until it works again', async () => {
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
    for (let tries = 0; tries < 3; tries++)
      expect(await again.send(scene.id)).toEqual({ againAfterMs: 5 * minute, wholeQueue: true });
    expect(again.log).toMatchObject([{ level: 50, code: 'mail.credentials' }]);
    right = true;
    expect(await again.send(scene.id)).toEqual({ state: 'sent' });
    expect(again.log).toHaveLength(1);
  });

  test('refuses the sender for one recipient: that mail waits; for two: all mails do', async () => {
    await using server = await startMailServer({
      onRcptTo: (_address, _session, callback) => callback(refusal(550, '5.7.1 relaying denied')),
    });
    await using scene = await dueLead(server.port, { reminders: { to: [anna, 'ben@example.com'] } });
    const ids = (await scene.plan()).map(({ id }) => id);
    const [first = 0, second = 0] = ids;
    expect(await scene.send(first)).toMatchObject({ wholeQueue: false });
    expect(await scene.send(first)).toMatchObject({ wholeQueue: false });
    expect(await scene.send(second)).toMatchObject({ wholeQueue: true });
    expect(await scene.send(first)).toMatchObject({ wholeQueue: true });
    expect(scene.log.filter(({ level }) => level === 50)).toHaveLength(1);
  });
});

describe('found in `sending` after a crash', () => {
  test('not before the delay is over; then sent once', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port);
    await scene.pool.query(`update reminders set state = 'sending', attempts = 1, updated_at = now()`);
    expect(await scene.send(scene.id)).toEqual({ againAfterMs: expect.any(Number), wholeQueue: false });
    expect(server.mails).toEqual([]);
    scene.pass(doubtMs);
    expect(await scene.send(scene.id)).toEqual({ state: 'sent' });
    expect(server.mails).toHaveLength(1);
  });

  test('a second time, or when doubtful mails are held: failed', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port);
    await scene.pool.query(`update reminders set state = 'sending', doubts = 1`);
    scene.pass(doubtMs);
    expect(await scene.send(scene.id)).toEqual({ state: 'failed' });
    await using held = await dueLead(server.port, { reminders: { onUnknown: 'hold' } });
    await held.pool.query(`update reminders set state = 'sending'`);
    held.pass(doubtMs);
    expect(await held.send(held.id)).toEqual({ state: 'failed' });
    expect(server.mails).toEqual([]);
  });
});

describe('what the mail tells', () => {
  test('each offset is a mail of its own, in one thread', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port, { reminders: { before: ['0m', '1m'] } });
    const ids = await scene.pool.query<{ id: number }>(`select id from reminders order by send_at`);
    for (const { id } of ids.rows) {
      await scene.pool.query(`update reminders set state = 'scheduled' where id = $1`, [id]);
      expect(await scene.send(id)).toEqual({ state: 'sent' });
    }
    const sources = server.mails.map(({ source }) => source);
    expect(new Set(sources.map((source) => header(source, 'Message-ID'))).size).toBe(2);
    expect(new Set(sources.map((source) => header(source, 'References'))).size).toBe(1);
  });

  test('what changed since the last reminder of the lead', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port, { lead: { city: 'Ulm' } });
    await scene.send(scene.id);
    expect(body(server.mails[0]?.source ?? '')).not.toMatch(/Ulm.*Bonn/s);
    const next = due(500);
    scene.workspace.sandbox.leads.edit(scene.leadId, { city: 'Bonn', nextFollowUpAt: next });
    await scene.workspace.sync();
    const [reminder] = await scene.plan();
    expect(await scene.send(reminder?.id ?? 0)).toEqual({ state: 'sent' });
    const text = body(server.mails[1]?.source ?? '');
    expect(text).toMatch(/City.*Ulm.*Bonn/);
    expect(text).not.toMatch(/Stage.*new.*new/);
  });

  test('with a calendar entry when that is asked for; a moved date raises its SEQUENCE', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port, { reminders: { calendar: true } });
    await scene.send(scene.id);
    scene.workspace.sandbox.leads.edit(scene.leadId, { nextFollowUpAt: due(500) });
    await scene.workspace.sync();
    const [reminder] = await scene.plan();
    await scene.send(reminder?.id ?? 0);
    const entries = server.mails.map(({ source }) => calendarOf(source));
    expect(entries.map((entry) => /SEQUENCE:(\d+)/.exec(entry)?.[1])).toEqual(['0', '1']);
    const uids = entries.map((entry) => /UID:(.*)/.exec(entry)?.[1]);
    expect(uids[0]).toBeTruthy();
    expect(uids[1]).toBe(uids[0]);
  });
});

describe('a calendar entry of a follow-up that was cleared before it was due', () => {
  /** One lead due in an hour, of which a mail with an entry was sent, then changed and synced. */
  async function entrySent(port: number, change: (leads: LeadTable, id: string) => void) {
    const scene = await dueLead(port, {
      agoMs: -60 * minute,
      reminders: { before: ['2h'], calendar: true, skipStages: ['won'] },
    });
    expect(await scene.send(scene.id)).toEqual({ state: 'sent' });
    change(scene.workspace.sandbox.leads, scene.leadId);
    await scene.workspace.sync();
    return scene;
  }
  const clear = (leads: LeadTable, id: string): void => {
    leads.edit(id, { nextFollowUpAt: null });
  };

  test('is taken back by one mail, with a higher SEQUENCE', async () => {
    await using server = await startMailServer();
    await using scene = await entrySent(server.port, clear);
    const [cancel, ...others] = await scene.plan();
    expect(others).toEqual([]);
    expect(await scene.send(cancel?.id ?? 0)).toEqual({ state: 'sent' });
    expect(await scene.plan()).toEqual([]);
    const source = server.mails[1]?.source ?? '';
    expect(header(source, 'Subject')).toContain('No follow-up any more: Due AG');
    const entry = calendarOf(source);
    expect(entry).toContain('STATUS:CANCELLED');
    expect(entry).toContain('SEQUENCE:1');
    expect(/UID:(.*)/.exec(entry)?.[1]).toBe(/UID:(.*)/.exec(calendarOf(server.mails[0]?.source ?? ''))?.[1]);
  });

  test('stays when the follow-up was set again meanwhile', async () => {
    await using server = await startMailServer();
    await using scene = await entrySent(server.port, clear);
    const [cancel] = await scene.plan();
    scene.workspace.sandbox.leads.edit(scene.leadId, { nextFollowUpAt: '2040-01-01T09:00:00.000Z' });
    expect(await scene.send(cancel?.id ?? 0)).toEqual({ state: 'cancelled' });
    expect(server.mails).toHaveLength(1);
  });

  test('stays when the follow-up moved, or its stage is not asked for any more', async () => {
    await using server = await startMailServer();
    for (const fields of [{ nextFollowUpAt: '2040-01-01T09:00:00.000Z' }, { stage: 'won' }]) {
      await using scene = await entrySent(server.port, (leads, id) => leads.edit(id, fields));
      expect(await scene.plan()).toEqual([]);
    }
    expect(server.mails).toHaveLength(2);
  });
});

test('a lead that is moved three times before it is due gives one mail', async () => {
  await using server = await startMailServer();
  await using scene = await dueLead(server.port, { agoMs: -60 * minute });
  for (const [times, ms] of [50 * minute, 30 * minute, -1_000].entries()) {
    scene.workspace.sandbox.leads.edit(scene.leadId, {
      nextFollowUpAt: new Date(Date.now() + ms).toISOString(),
    });
    expect((await scene.workspace.sync()).updated.rows, `move ${times}`).toBe(1);
    await scene.plan();
  }
  const { rows } = await scene.pool.query<{ id: number }>(`select id from reminders`);
  expect(rows).toHaveLength(4);
  for (const { id } of rows) await scene.send(id);
  expect(server.mails).toHaveLength(1);
  const states = (await scene.states()).map(({ state }) => state);
  expect(states.toSorted()).toEqual(['cancelled', 'cancelled', 'cancelled', 'sent']);
});
