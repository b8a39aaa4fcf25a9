import { expect, test } from 'vitest';
import { freePort, refusal, startMailServer, startRawServer } from '../../support/mail-server.ts';
import { leadOf, messageId, reminderWorker, shortWaits } from '../../support/reminder-worker.ts';
import { until } from '../../support/until.ts';

const [anna, ben, gone] = ['anna@example.com', 'ben@example.com', 'gone@example.com'];
const local = (port: number): string => `127.0.0.1:${port}`;

/** Each mail that arrived, as the lead it is about, in their order. */
const leadsOf = (mails: readonly { readonly source: string }[]): readonly string[] =>
  mails.map(({ source }) => leadOf(source));

/** `Lead0000` and so on. */
const leads = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, n) => `Lead${String(n).padStart(4, '0')}`);

test('the connection ends after DATA: those mails come once more with the same Message-ID, the others once', async () => {
  const cut = new Map<string, number>();
  await using server = await startMailServer({
    taken: ({ source }) => {
      const lead = leadOf(source);
      if (cut.has(lead) || !/000[258]$/.test(lead)) return null;
      cut.set(lead, Date.now());
      return 'drop';
    },
  });
  await using worker = await reminderWorker(local(server.port), { count: 30 });
  await worker.settled();
  expect(await worker.states()).toEqual({ sent: 30 });
  expect([...cut.keys()].toSorted()).toEqual(['Lead0002', 'Lead0005', 'Lead0008']);
  const byLead = Map.groupBy(server.mails, ({ source }) => leadOf(source));
  expect([...byLead.keys()].toSorted()).toEqual(leads(30));
  for (const [lead, mails] of byLead) {
    expect(mails.length, lead).toBe(cut.has(lead) ? 2 : 1);
    expect(new Set(mails.map(({ source }) => messageId(source))).size, lead).toBe(1);
  }
  const ids = server.mails.map(({ source }) => messageId(source));
  expect(new Set(ids).size, 'no two leads have the same one').toBe(30);
  expect(worker.told(40).map(({ code }) => code)).toEqual(Array(3).fill('mail.outcome-unknown'));
  expect(worker.told(50)).toEqual([]);
});

test('the connection ends after DATA each time: sent twice, failed, told; the others are sent', async () => {
  await using server = await startMailServer({
    taken: ({ source }) => (leadOf(source) === 'Lead0001' ? 'drop' : null),
  });
  await using worker = await reminderWorker(local(server.port), { count: 4 });
  await worker.settled();
  expect(await worker.states()).toEqual({ sent: 3, failed: 1 });
  expect(leadsOf(server.mails).toSorted()).toEqual([...leads(4), 'Lead0001'].toSorted());
  expect(worker.told(50)).toMatchObject([{ code: 'mail.outcome-unknown' }]);
});

test('4xx after DATA: taken at the second try, and not earlier than after the wait', async () => {
  const attempts = Map.groupBy<string, number>([], () => '');
  await using server = await startMailServer({
    taken: ({ source }) => {
      const times = attempts.get(leadOf(source)) ?? [];
      attempts.set(leadOf(source), [...times, Date.now()]);
      return times.length === 0 ? refusal(451, '4.3.0 try again later') : null;
    },
  });
  await using worker = await reminderWorker(local(server.port), { count: 20 });
  await worker.settled();
  expect(await worker.states()).toEqual({ sent: 20 });
  expect((await worker.rows()).map(({ attempts }) => attempts)).toEqual(Array(20).fill(2));
  for (const lead of leads(20)) {
    const [first = 0, second = 0, ...more] = attempts.get(lead) ?? [];
    expect(second - first, lead).toBeGreaterThanOrEqual(shortWaits.retryMs - 5);
    expect(more).toEqual([]);
  }
  expect(worker.told(50)).toEqual([]);
});

test('greylisting by recipient: each comes in the end, once', async () => {
  const seen = new Map<string, number>();
  await using server = await startMailServer({
    onRcptTo: ({ address }, _session, callback) => {
      const first = seen.get(address) ?? Date.now();
      seen.set(address, first);
      callback(Date.now() - first < 900 ? refusal(451, '4.7.1 greylisted, come back later') : null);
    },
  });
  await using worker = await reminderWorker(local(server.port), { count: 5, to: [anna, ben] });
  await worker.settled();
  expect(await worker.states()).toEqual({ sent: 10 });
  expect(server.mails.map(({ to, source }) => `${leadOf(source)} ${to.join()}`).toSorted()).toEqual(
    leads(5)
      .flatMap((lead) => [`${lead} ${anna}`, `${lead} ${ben}`])
      .toSorted(),
  );
  expect(worker.told(50)).toEqual([]);
});

test('one recipient is rejected for good: failed with the words of the server and told; all others have their mails', async () => {
  await using server = await startMailServer({
    onRcptTo: ({ address }, _session, callback) =>
      callback(address === gone ? refusal(550, '5.1.1 nobody of that name here') : null),
  });
  await using worker = await reminderWorker(local(server.port), { count: 5, to: [anna, gone, ben] });
  await worker.settled();
  expect(await worker.states()).toEqual({ sent: 10, failed: 5 });
  const failed = (await worker.rows()).filter(({ state }) => state === 'failed');
  expect(new Set(failed.map(({ recipient }) => recipient))).toEqual(new Set([gone]));
  for (const { note, attempts } of failed) {
    expect(note).toContain('5.1.1 nobody of that name here');
    expect(attempts).toBe(1);
  }
  expect(server.mails.map(({ to }) => to.join()).toSorted()).toEqual([
    ...Array(5).fill(anna),
    ...Array(5).fill(ben),
  ]);
  expect(worker.told(50).map(({ code }) => code)).toEqual(Array(5).fill('mail.refused'));
});

test('a wrong password: no mail leaves, one is told; when it is mended all go on, which is told too', async () => {
  let right = false;
  let logins = 0;
  await using server = await startMailServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    authOptional: false,
    onAuth: (_auth, _session, callback) => {
      logins++;
      callback(right ? null : refusal(535, '5.7.8 wrong password'), { user: 1 });
    },
  });
  await using worker = await reminderWorker(`sales:hunter2@${local(server.port)}`, { count: 60 });
  await until('the fault is told', () => worker.told(50).length > 0);
  const known = logins;
  await until('it is tried again', () => logins > known + 16);
  expect(server.mails).toEqual([]);
  expect(worker.told(50)).toMatchObject([{ code: 'mail.credentials' }]);
  right = true;
  await worker.settled();
  expect(await worker.states()).toEqual({ sent: 60 });
  expect(leadsOf(server.mails).toSorted()).toEqual(leads(60));
  expect(worker.told(50)).toHaveLength(1);
  expect(worker.told(30).filter(({ msg }) => msg === 'mails can be sent again')).toHaveLength(1);
});

test('the server is not there at first: nothing is lost, and all is sent once it is', async () => {
  const port = await freePort();
  await using worker = await reminderWorker(local(port), { count: 20 });
  await until('all were tried', async () => (await worker.rows()).every(({ attempts }) => attempts > 0));
  expect((await worker.rows()).every(({ state }) => state === 'scheduled' || state === 'sending')).toBe(true);
  await using server = await startMailServer({ port });
  await worker.settled();
  expect(await worker.states()).toEqual({ sent: 20 });
  expect(leadsOf(server.mails).toSorted()).toEqual(leads(20));
  expect(worker.told(50)).toEqual([]);
});

test('the server greets and then says nothing more: given up, tried again, sent when it speaks', async () => {
  await using server = await startRawServer({ EHLO: 'silence' });
  await using worker = await reminderWorker(local(server.port), { count: 6 });
  await until('all were given up', () => worker.told(40).length >= 6);
  expect(server.taken).toEqual([]);
  server.answer('EHLO', '250 raw');
  await worker.settled();
  expect(await worker.states()).toEqual({ sent: 6 });
  expect(server.taken.map(leadOf).toSorted()).toEqual(leads(6));
  // Certainly not sent: no doubt, which would be told at 50 after the second.
  expect(new Set(worker.told(40).map(({ code }) => code))).toEqual(new Set(['mail.unavailable']));
  expect(worker.told(50)).toEqual([]);
});

test('two leads that the service cannot show: all others are sent at once, and those wait for their next try', async () => {
  await using server = await startMailServer();
  await using worker = await reminderWorker(local(server.port), { count: 40, unreadable: [0, 20] });
  await until('the others are sent', async () => (await worker.states())['sent'] === 38);
  expect(await worker.states()).toEqual({ scheduled: 2, sent: 38 });
  const waiting = (await worker.rows()).filter(({ state }) => state === 'scheduled');
  expect(waiting.map(({ company, attempts, note }) => [company, attempts, note])).toEqual([
    ['Lead0000', 1, 'this lead alone'],
    ['Lead0020', 1, 'this lead alone'],
  ]);
  expect(worker.told(50)).toEqual([]);
});

test('the Leads service asks to wait: nobody asks it meanwhile, and all are sent then', async () => {
  await using server = await startMailServer();
  await using worker = await reminderWorker(local(server.port), {
    count: 60,
    faults: [{ kind: 'status', status: 429, retryAfter: { seconds: 2 }, when: { once: 21 }, on: ['get'] }],
  });
  await worker.settled();
  expect(await worker.states()).toEqual({ sent: 60 });
  expect(leadsOf(server.mails).toSorted()).toEqual(leads(60));
  // Four leads are read at once: what was under way with the 429, or had its turn, waits with it.
  const again = (await worker.rows()).map((row) => row.attempts).filter((attempts) => attempts !== 1);
  expect([1, 2, 3, 4]).toContain(again.length);
  expect(new Set(again)).toEqual(new Set([2]));
  expect(worker.sandbox.stats.byRoute.get).toBeLessThanOrEqual(60 + again.length);
});
