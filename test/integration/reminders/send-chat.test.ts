import { describe, expect, test } from 'vitest';
import { type ChatKind, chatKinds } from '../../../src/config/chat-webhook.ts';
import { planDigests } from '../../../src/reminders/plan/plan-digests.ts';
import { usualWaits } from '../../../src/reminders/send/mail-limits.ts';
import { type ChatFault, limitSeconds, startChatServer } from '../../stand-ins/chat/chat-server.ts';
import { dueLead } from '../../support/due-lead.ts';
import { startMailServer } from '../../support/mail-server.ts';
import { reminderWorker } from '../../support/reminder-worker.ts';
import { Workspace } from '../../support/workspace.ts';

const { doubtMs, stoppedMs } = usualWaits;
type Server = Awaited<ReturnType<typeof startChatServer>>;

/** A lead that is due, of which a channel alone is reminded. */
function dueMessage(server: Server, kind: ChatKind, more: object = {}) {
  const reminders = { to: undefined, webhook: server.url(kind), ...more };
  return dueLead(1, { reminders, lead: { companyName: '@everyone <GmbH> & *Söhne*' } });
}

const shownName: Readonly<Record<ChatKind, string>> = {
  slack: '@\u200Beveryone &lt;GmbH&gt; &amp; *Söhne*',
  discord: String.raw`\@everyone \<GmbH\> & \*Söhne\*`,
  teams: '@everyone <\u200BGmbH> & \\*Söhne\\*',
};

test.each(chatKinds)('%s gets a reminder and the digest, once', async (kind) => {
  await using server = await startChatServer();
  const leadUrl = 'https://app.example.com/leads/{id}';
  const now = new Date();
  // A digest that is due later today is planned; its text is asked for now.
  await using scene = await dueMessage(server, kind, { digest: '23:59', leadUrl });
  expect(await scene.send(scene.id)).toEqual({ state: 'sent' });
  expect(await scene.send(scene.id)).toEqual({ state: 'sent' });
  const { pool, workspace, sending } = scene;
  const { connection } = sending();
  await planDigests(pool, [connection]);
  await pool.query(
    `update mails set send_at = now() - interval '1 second', local_date = $1 where kind = 'digest'`,
    [now.toISOString().slice(0, 10)],
  );
  const { rows } = await pool.query<{ id: number }>(`select id from mails where kind = 'digest'`);
  for (let times = 0; times < 2; times++)
    expect(await scene.send(rows[0]?.id ?? 0, 0, [connection])).toEqual({ state: 'sent' });

  const [reminder, digest, ...others] = server.posted;
  expect(others).toEqual([]);
  expect(reminder?.text).toContain(shownName[kind]);
  expect(reminder?.text).toContain(`https://app.example.com/leads/${scene.leadId}`);
  expect(digest?.text).toContain(shownName[kind]);
  expect(server.refused).toEqual([]);
  expect(new Set(server.requests.map(({ url }) => url))).toEqual(
    new Set([new URL(server.url(kind)).pathname]),
  );

  const { stdout } = await workspace.cli('status', '--reminders');
  expect(stdout).toMatch(new RegExp(`to ${kind}:[0-9a-f]{8}`));
  const { rows: stored } = await pool.query(`select m::text from mails m`);
  expect(JSON.stringify([stored, scene.log, stdout])).not.toContain('geheim');
});

describe('a channel that', () => {
  /** Sends once against a fault. */
  async function tryOnce(kind: ChatKind, fault: ChatFault, more: object = {}) {
    let isBroken = true;
    await using stack = new AsyncDisposableStack();
    const server = stack.use(await startChatServer(() => (isBroken ? fault : null)));
    const scene = stack.use(await dueMessage(server, kind, more));
    const outcome = await scene.send(scene.id);
    const owned = stack.move();
    const repair = (): void => void (isBroken = false);
    return { server, scene, outcome, repair, [Symbol.asyncDispose]: () => owned.disposeAsync() };
  }

  test('breaks the connection after the message: once more after a delay, and no third time', async () => {
    await using one = await tryOnce('slack', 'cut');
    expect(one.outcome).toEqual({ againAfterMs: doubtMs });
    expect(await one.scene.send(one.scene.id)).toBe('waits');
    expect(one.server.posted).toHaveLength(1);
    one.scene.pass(doubtMs);
    expect(await one.scene.send(one.scene.id)).toEqual({ state: 'failed' });
    expect(one.server.posted).toHaveLength(2);
    expect((await one.scene.states())[0]?.note).toContain('sent twice');
  });

  test('limits: all its messages wait for as long as it asks', async () => {
    await using one = await tryOnce('discord', 'limited');
    expect(one.outcome).toEqual({ againAfterMs: limitSeconds * 1_000, isOfSender: true });
    one.repair();
    expect(await one.scene.send(one.scene.id)).toEqual({ state: 'sent' });
    expect(one.server.posted).toHaveLength(1);
  });

  test('is gone: all its messages wait, with one error in the log', async () => {
    await using one = await tryOnce('slack', 'gone');
    expect(one.outcome).toEqual({ againAfterMs: stoppedMs, isOfSender: true });
    await one.scene.send(one.scene.id);
    expect(one.scene.log.map(({ level, code }) => [level, code])).toEqual([[50, 'chat.channel-gone']]);
    expect(JSON.stringify(one.scene.log)).not.toContain('geheim');
    expect(await one.scene.states()).toMatchObject([{ state: 'scheduled' }]);
    expect(one.server.requests).toHaveLength(2);
    one.repair();
    expect(await one.scene.send(one.scene.id)).toEqual({ state: 'sent' });
  });

  test('is not available: tried again later', async () => {
    await using one = await tryOnce('slack', 500);
    expect(one.outcome).toEqual({ againAfterMs: 600_000 });
    expect(await one.scene.states()).toMatchObject([{ state: 'scheduled', attempts: 1 }]);
  });
});

describe('the worker', () => {
  test('posts one message after the other, none before the time that a 429 asks for; mails do not wait', async () => {
    await using chat = await startChatServer((_message, count) => (count === 1 ? 'limited' : null));
    const postedBefore: number[] = [];
    await using mails = await startMailServer({
      taken: () => {
        postedBefore.push(chat.posted.length);
        return null;
      },
    });
    const reminders = { webhook: chat.url('slack') };
    await using worker = await reminderWorker(`127.0.0.1:${mails.port}`, { count: 7, reminders });
    await worker.settled();
    expect(postedBefore).toHaveLength(7);
    expect(Math.max(...postedBefore), 'mails do not wait').toBeLessThan(7);
    expect(await worker.states()).toEqual({ sent: 14 });
    expect(new Set(chat.posted.map(({ text }) => /Lead\d+/.exec(text)?.[0])).size).toBe(7);
    const [limited = 0, second = 0, ...others] = chat.requests.map(({ at }) => at);
    expect(second - limited).toBeGreaterThanOrEqual(limitSeconds * 1_000 - 5);
    expect(others).toHaveLength(6);
    // They are begun a second after one another; how long each takes to arrive differs.
    expect((others.at(-1) ?? 0) - second).toBeGreaterThanOrEqual(6 * 900);
  });

  test('a channel that is gone: mails go on, and no message is tried for each of them', async () => {
    await using chat = await startChatServer(() => 'gone');
    await using mails = await startMailServer();
    const reminders = { webhook: chat.url('slack') };
    await using worker = await reminderWorker(`127.0.0.1:${mails.port}`, { count: 8, reminders });
    await expect.poll(() => mails.mails.length).toBe(8);
    await expect.poll(() => worker.states()).toEqual({ sent: 8, scheduled: 8 });
    expect(worker.told(50).map(({ code }) => code)).toEqual(['chat.channel-gone']);
    // The pause is a second here.
    expect(chat.requests.length).toBeLessThanOrEqual(4);
  });
});

test('check says what is set and posts nothing; --send-test chat posts a test in the language of the connection', async () => {
  await using server = await startChatServer();
  const webhook = { webhook: server.url('teams') };
  await using workspace = await Workspace.open({ connection: { reminders: { ...webhook, language: 'de' } } });
  const check = await workspace.cli('check');
  expect(check.stdout).toContain('ok    main: chat: Microsoft Teams (127.0.0.1:');
  expect(server.requests).toEqual([]);
  const test = await workspace.cli('check', '--send-test', 'chat');
  expect(test.stdout).toMatch(/^Microsoft Teams \(127\.0\.0\.1:\d+\) took the message: posted \(202\)/);
  expect(server.posted.map(({ text }) => text)).toEqual([expect.stringContaining('Testnachricht')]);
  expect(check.stdout + check.stderr + test.stdout + test.stderr).not.toContain('geheim');
});

test('--reminders LEAD shows the message of a channel, as it is posted, and not a mail', async () => {
  await using server = await startChatServer();
  const webhook = { to: undefined, webhook: server.url('discord') };
  await using workspace = await Workspace.open({ connection: { reminders: webhook } });
  const lead = workspace.sandbox.leads.add({
    companyName: 'A * B',
    nextFollowUpAt: new Date(Date.now() + 3_600_000).toISOString(),
  });
  await workspace.sync();
  const { stdout } = await workspace.cli('status', '--reminders', lead.id);
  expect(stdout).toMatch(
    /to discord:\w{8} \(when it is due; this is the message below\)\nDue \w+: A \\\* B\n/,
  );
  expect(stdout).not.toMatch(/Subject|Sent by leadsync/);
  const json = (await workspace.cli('status', '--reminders', lead.id, '--json')).json<object>();
  expect(json).toMatchObject({ text: expect.stringContaining('A \\* B') });
  expect(json).not.toHaveProperty('subject');
  expect(server.requests).toEqual([]);
});

test('a channel that is not set any more gets nothing', async () => {
  await using server = await startChatServer();
  await using scene = await dueMessage(server, 'slack');
  scene.setRules({ channel: null });
  expect(await scene.send(scene.id)).toEqual({ state: 'cancelled' });
  expect(server.requests).toEqual([]);
});
