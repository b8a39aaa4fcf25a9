import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mailHandlers } from '../../../jobs/mails.ts';
import { mailQueue } from '../../../src/worker/mail-jobs.ts';
import { runHandlers, syncQueue } from '../../../jobs/runs.ts';
import { followUpLinks } from '../../../src/reminders/links/link-token.ts';
import { linkKey } from '../../../src/store/keeper.ts';
import { acquireLease } from '../../../src/store/leases.ts';
import { planMails } from '../../../src/worker/plan-mails.ts';
import { outbox } from '../../support/worker.ts';
import { adminToken, openStatusSite, type StatusSite } from '../../support/status-site.ts';

const publicUrl = 'https://leadsync.example.com/app';
const due = Date.parse('2099-03-03T08:00:00Z');
const [anna, ben, resi] = ['anna@example.com', 'ben@example.com', 'resi@example.com'];

let site: StatusSite;
let working: AsyncDisposable;
let leadId = '';

beforeAll(async () => {
  site = await openStatusSite({
    connection: { reminders: { to: [anna, ben, resi], timeZone: 'Europe/Berlin' } },
    beside: {
      publicUrl,
      recipients: { [ben]: { timeZone: 'America/New_York' } },
    },
    env: { ADMIN_TOKEN: adminToken },
  });
  working = (await site.app.queues()).queue(syncQueue).work(runHandlers(site.app));
});
afterAll(async () => {
  await working[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});
beforeEach(async () => {
  const { sandbox } = site.workspace;
  leadId = sandbox.leads.add({
    companyName: '<b>Lead & Söhne',
    stage: 'new',
    nextFollowUpAt: new Date(due).toISOString(),
  }).id;
  await site.workspace.sync();
});

const dueNow = () =>
  site.workspace.sandbox.leads.list().find(({ id }) => id === leadId)?.['nextFollowUpAt'] ?? null;

/** The path of a link as a mail has it. */
async function linkFor(
  recipient: string,
  by: 'page' | 'day' | 'week' | 'done' = 'page',
  now = Date.now(),
  dueAt = due,
  { app } = site,
) {
  const maker = { key: await linkKey(app.pool), publicUrl: '' };
  return followUpLinks(maker, { connection: 'main', leadId, recipient, dueAt }, now)[by];
}

const seenIn = (body: string): string => /name="seen" value="([^"]*)"/.exec(body)?.[1] ?? '';

test('the page shows the follow-up and changes nothing; its button moves it; a second press does nothing more', async () => {
  const path = await linkFor(anna, 'week');
  const before = site.workspace.sandbox.log.length;
  const page = await site.ask(path);
  await site.ask(path, { method: 'HEAD' });
  expect(page.status).toBe(200);
  expect(page.body).toContain('&lt;b&gt;Lead &amp; Söhne');
  expect(page.body).toContain('The follow-up is due on Tuesday, 3 March 2099 at 09:00 CET.');
  expect([...page.body.matchAll(/name="do" value="(\w+)"/g)].map(([, by]) => by)).toEqual([
    'week',
    'day',
    'done',
  ]);
  expect(page.headers).toMatchObject({
    'cache-control': 'no-store',
    'referrer-policy': 'same-origin',
    'content-security-policy': expect.stringContaining("default-src 'none'"),
  });
  expect(page.body).not.toMatch(/<script|style=|https?:/);
  expect(site.workspace.sandbox.log).toHaveLength(before);

  const form = { do: 'week', seen: seenIn(page.body) };
  const reply = await site.ask(path, { form });
  expect(reply.status).toBe(303);
  expect(`/follow-up/${String(reply.headers['location'])}`).toBe(path.split('?')[0]);
  expect(dueNow()).toBe('2099-03-10T08:00:00.000Z');
  const after = (await site.ask(path)).body;
  expect(after).toContain('Done. You moved the follow-up to Tuesday, 10 March 2099 at 09:00 CET.');
  expect(after).toContain(
    'The mail was about Tuesday, 3 March 2099 at 09:00 CET. The follow-up has changed since.',
  );

  await site.ask(path, { form });
  await site.ask(path, { form: { ...form, do: 'day' } });
  expect(dueNow()).toBe('2099-03-10T08:00:00.000Z');
  // For the present date the buttons are there again.
  await site.ask(path, { form: { do: 'done', seen: seenIn(after) } });
  expect(dueNow()).toBeNull();
  const { body } = await site.ask(path);
  expect(body).toContain('Done. You cleared the date of the follow-up.');
  expect(body).not.toContain('<form');
});

test('a mail has links that work, and no address or lead in them', async () => {
  const dueAt = Date.now() - 1_000;
  const { sandbox } = site.workspace;
  const mailed = sandbox.leads.add({ companyName: 'Mailed', nextFollowUpAt: new Date(dueAt).toISOString() });
  await site.workspace.sync();
  await planMails(site.app);
  const sending = (await site.app.queues()).queue(mailQueue).work(mailHandlers(site.app));
  await expect.poll(() => outbox(site.workspace)).toHaveLength(3);
  await sending[Symbol.asyncDispose]();
  for (const mail of await outbox(site.workspace)) {
    const text = mail.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=');
    const [url = ''] = /https:\/\/leadsync\.example\.com\/app\/follow-up\/[\w-]+\?do=done/.exec(text) ?? [];
    expect(Buffer.from(url.split('/').at(-1) ?? '', 'base64url').toString('latin1')).not.toMatch(
      /anna|ben|main/,
    );
    expect(url).not.toContain(mailed.id);
    const { status, body } = await site.ask(url.replace(publicUrl, ''));
    expect(status).toBe(200);
    expect(body).toContain('Mailed');
  }
});

test('each person has their time zone, and sees what somebody else did', async () => {
  const { body } = await site.ask(await linkFor(ben));
  expect(body).toContain('<html lang="en">');
  expect(body).toContain('Tuesday, 3 March 2099 at 03:00');
  await site.ask(await linkFor(anna), { form: { do: 'day', seen: seenIn(body) } });
  expect((await site.ask(await linkFor(ben))).body).toContain('anna@example.com changed it on');
});

test('the page has the language of the connection, such as German for Austria, also when the link has expired', async () => {
  await using other = await openStatusSite({
    connection: { reminders: { to: [resi], timeZone: 'Europe/Berlin', language: 'de-AT' } },
    beside: { publicUrl },
    env: { ADMIN_TOKEN: adminToken },
  });
  const nextFollowUpAt = new Date(due).toISOString();
  leadId = other.workspace.sandbox.leads.add({ companyName: 'Wiener AG', nextFollowUpAt }).id;
  await other.workspace.sync();
  const { body } = await other.ask(await linkFor(resi, 'page', Date.now(), due, other));
  expect(body).toContain('<html lang="de-AT">');
  expect(body).toContain('Die Wiedervorlage ist fällig: Dienstag, 3. März 2099');
  const longAgo = Date.now() - 40 * 24 * 3_600_000;
  expect(await other.ask(await linkFor(resi, 'page', longAgo, longAgo, other))).toMatchObject({
    status: 410,
    body: expect.stringContaining('Dieser Link ist abgelaufen.'),
  });
});

describe('the next mail of a follow-up', () => {
  const press = async (path: string, by = 'day') =>
    site.ask(path, { form: { do: by, seen: seenIn((await site.ask(path)).body) } });
  const nextDay = Date.parse('2099-03-04T08:00:00Z');
  const elsewhere = Date.parse('2099-05-05T08:00:00Z');

  test('does not say "Done" before a button was pressed', async () => {
    const first = await linkFor(anna);
    await press(first);
    expect((await site.ask(first)).body).toContain('Done. You moved the follow-up to Wednesday, 4 March');
    const next = await linkFor(anna, 'day', Date.now(), nextDay);
    const { body } = await site.ask(next);
    expect(body).toContain('The follow-up is due on Wednesday, 4 March 2099 at 09:00 CET.');
    expect(body).not.toContain('Done.');
    expect((await site.ask(await linkFor(ben, 'page', Date.now(), nextDay))).body).not.toContain(
      'changed it on',
    );
    await press(next);
    expect((await site.ask(next)).body).toContain('Done. You moved the follow-up to Thursday, 5 March');
  });

  test.each([due, elsewhere])('nor any mail that it was moved, when it is due at %s again', async (dueAt) => {
    const first = await linkFor(anna);
    await press(first);
    site.workspace.sandbox.leads.edit(leadId, { nextFollowUpAt: new Date(dueAt).toISOString() });
    await site.workspace.sync();
    await planMails(site.app);
    for (const path of [first, await linkFor(anna, 'page', Date.now(), dueAt)])
      expect((await site.ask(path)).body).not.toContain('Done.');
  });

  test('does not say that nothing was changed', async () => {
    const path = await linkFor(anna);
    const seen = seenIn((await site.ask(path)).body);
    site.workspace.sandbox.leads.edit(leadId, { nextFollowUpAt: new Date(elsewhere).toISOString() });
    await site.ask(path, { form: { do: 'day', seen } });
    expect((await site.ask(path)).body).toContain('Nothing was changed');
    const { body } = await site.ask(await linkFor(anna, 'page', Date.now(), elsewhere));
    expect(body).toContain('value="day"');
    expect(body).not.toContain('Nothing was changed');
  });
});

test('a lead that was deleted: the page says so, and nothing of a date', async () => {
  const { leads } = site.workspace.sandbox;
  // A scan without any lead proves nothing.
  leads.add({ companyName: 'Stays' });
  await site.workspace.sync();
  leads.remove(leadId);
  await site.workspace.sync();
  await site.workspace.sync();
  const { status, body } = await site.ask(await linkFor(anna));
  expect(status).toBe(200);
  expect(body).toContain('This lead is not there any more.');
  expect(body).not.toMatch(/<form|due|The mail was about/);
});

test('a follow-up that was moved in the service meanwhile is not overwritten: the page says so and shows it', async () => {
  const path = await linkFor(anna);
  const seen = seenIn((await site.ask(path)).body);
  site.workspace.sandbox.leads.edit(leadId, { nextFollowUpAt: '2099-05-05T08:00:00.000Z' });
  await site.ask(path, { form: { do: 'day', seen } });
  expect(dueNow()).toBe('2099-05-05T08:00:00.000Z');
  const { body } = await site.ask(path);
  expect(body).toContain('Nothing was changed: the follow-up had been moved meanwhile.');
  expect(body).toContain('The follow-up is due on Tuesday, 5 May 2099 at 10:00 CEST.');
});

test('while a sync runs the change is stored, and the page says when it is made', async () => {
  const path = await linkFor(anna);
  const seen = seenIn((await site.ask(path)).body);
  const lease = await acquireLease(site.app.pool, 'main/sync');
  await site.ask(path, { form: { do: 'day', seen } });
  const { body } = await site.ask(path);
  expect(body).toContain('Your change is stored.');
  expect(body).not.toContain('<form');
  await lease?.[Symbol.asyncDispose]();
  await expect.poll(dueNow).toBe('2099-03-04T08:00:00.000Z');
});

test('who is no recipient any more moves nothing', async () => {
  const { body } = await site.ask(await linkFor('former@example.com'));
  expect(body).toContain('This follow-up is not yours any more');
  expect(body).not.toContain('<form');
});

describe('a link that does not work', () => {
  test('expired, forged, cut off: plain words, and no lead', async () => {
    const old = await linkFor(
      anna,
      'page',
      Date.now() - 40 * 24 * 3_600_000,
      Date.now() - 40 * 24 * 3_600_000,
    );
    expect(await site.ask(old)).toMatchObject({
      status: 410,
      body: expect.stringContaining('This link has expired.'),
    });
    const path = await linkFor(anna);
    for (const wrong of [path.slice(0, -1), `${path}x`, '/follow-up/x', `/follow-up/${'a'.repeat(3_000)}`])
      expect(await site.ask(wrong)).toMatchObject({
        status: 404,
        body: expect.stringContaining('This link is not valid.'),
      });
  });

  test('other methods, huge and strange bodies, another page as origin', async () => {
    const path = await linkFor(anna);
    for (const method of ['PUT', 'DELETE', 'OPTIONS', 'PATCH'])
      expect((await site.ask(path, { method })).status).toBe(405);
    expect((await site.ask(path, { form: { do: 'day', seen: 'x'.repeat(20_000) } })).status).toBe(413);
    expect((await site.ask(path, { form: { do: 'delete', seen: '' } })).status).toBe(400);
    const seen = new Date(due).toISOString();
    const form = { do: 'day', seen };
    expect((await site.ask(path, { form, headers: { origin: 'https://evil.example' } })).status).toBe(403);
    expect(dueNow()).toBe(seen);
    // As a proxy hands it on.
    const origin = { origin: 'https://leadsync.example.com' };
    expect((await site.ask(path, { form, headers: origin })).status).toBe(303);
  });

  test('guessing is slowed down, for the one who guesses', async () => {
    const guess = (localAddress: string) => site.ask('/follow-up/guess', { localAddress });
    for (let nth = 0; nth < 10; nth++) expect((await guess('127.0.0.2')).status).toBe(404);
    const { status, headers } = await guess('127.0.0.2');
    expect([status, Number(headers['retry-after']) > 0]).toEqual([429, true]);
    expect((await guess('127.0.0.3')).status).toBe(404);
  });

  test('the rest of the port asks for its token as before', async () => {
    expect((await site.ask('/')).status).toBe(401);
    expect((await site.ask('/follow-up/style.css')).status).toBe(200);
  });
});

test('a new key ends the links of all mails so far, in workers that run as well', async () => {
  const before = await linkFor(anna);
  expect((await site.ask(before)).status).toBe(200);
  const renewed = await site.workspace.cli('status', '--new-link-key');
  expect([renewed.code, renewed.stdout]).toEqual([0, expect.stringContaining('lead nowhere any more')]);
  expect((await site.ask(before)).status).toBe(404);
  expect((await site.ask(await linkFor(anna))).status).toBe(200);
});

test('wrong links, however many, keep nobody from a right one', async () => {
  const ask = async (path: string) => (await site.ask(path, { localAddress: '127.0.0.9' })).status;
  const right = await linkFor(anna);
  const wrong = await Promise.all(Array.from({ length: 30 }, (_, nth) => ask(`/follow-up/${nth}`)));
  expect(new Set(wrong)).toEqual(new Set([404, 429]));
  expect([await ask('/follow-up/x'), await ask(right)]).toEqual([429, 200]);
});
