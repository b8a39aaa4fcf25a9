import ICAL from 'ical.js';
import nodeIcal from 'node-ical';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHttpServer } from '../../../src/ops/http.ts';
import { beginFeeds, feedTokens, replaceFeedToken } from '../../../src/store/keeper.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { saveFollowUps } from '../../../src/store/follow-ups.ts';
import { advanceBaselines } from '../../support/advance-baselines.ts';
import { moveBaselines } from '../../../src/store/baselines.ts';
import { adminToken, askOnce, openStatusSite, type StatusSite } from '../../support/status-site.ts';
import { cpuMs } from '../../support/cpu-ms.ts';

const anna = 'anna@example.com';
const ben = 'ben@example.com';
const day = 24 * 3_600_000;
const reminders = { to: [anna], timeZone: 'Europe/Berlin', leadUrl: 'https://app.example.com/leads/{id}' };
const berlin = { timeZone: 'Europe/Berlin' };
const settings = {
  connection: {
    sync: berlin,
    reminders: { ...reminders, from: 'Main <main@example.com>' },
  },
  others: {
    west: { sync: berlin, reminders: { ...reminders, from: 'west@example.org' } },
    nord: { sync: berlin, reminders: { ...reminders, from: 'nord@example.org', language: 'de' } },
    off: { sync: berlin },
  },
};
/** At nine in Berlin, whole seconds. */
const noon = Math.floor(Date.now() / day) * day + 12 * 3_600_000;

let site: StatusSite;
beforeAll(async () => {
  site = await openStatusSite({ ...settings, env: { ADMIN_TOKEN: adminToken, HOST: '0.0.0.0' } });
});
afterAll(() => site[Symbol.asyncDispose]());

async function follow(
  connection: string,
  leadId: string,
  dueAt: number | null,
  {
    sequence = 0,
    recipients = [anna],
    ...values
  }: { sequence?: number; recipients?: string[]; companyName?: string } = {},
): Promise<void> {
  const nextFollowUpAt = dueAt === null ? null : new Date(dueAt).toISOString();
  const shown = { companyName: `${leadId} AG`, city: 'Köln', stage: 'offer', ...values, nextFollowUpAt };
  await advanceBaselines(site.app.pool, connection, [{ leadId, values: shown }]);
  await saveFollowUps(site.app.pool, connection, [
    { leadId, service: connection, seen: 's', dueAt, recipients, sequence },
  ]);
}

async function addressOf(recipient: string): Promise<string> {
  await beginFeeds(site.app.pool, [recipient]);
  return `/calendar/${(await feedTokens(site.app.pool, [recipient])).get(recipient)}.ics`;
}

const read = async (recipient = anna) => site.ask(await addressOf(recipient));

/** By ical.js, strictly. */
function parsed(text: string): ICAL.Component {
  return new ICAL.Component(ICAL.parse(text) as unknown[]);
}

function events(text: string): readonly ICAL.Event[] {
  return parsed(text)
    .getAllSubcomponents('vevent')
    .map((one) => new ICAL.Event(one));
}

describe('a calendar feed', () => {
  test('has the follow-ups of one recipient in all connections with a feed, as calendars show and move them', async () => {
    await follow('main', 'moment', noon + 3 * day, { sequence: 4 });
    await follow('west', 'day', Date.parse('2027-11-16T23:00:00Z'));
    await follow('main', 'recent', noon - 29 * day);
    await follow('main', 'old', noon - 32 * day);
    await follow('off', 'off', noon + day);
    await follow('main', 'bens', noon + day, { recipients: [ben] });
    await follow('main', 'cleared', null);
    await follow('main', 'gone', noon + day);
    await moveBaselines(site.app.pool, 'main', [{ to: 'lead-deleted', leadId: 'gone' }]);

    const { body, headers, status } = await read();
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/calendar; charset=utf-8',
      'cache-control': 'private, no-cache',
      'content-disposition': 'inline; filename="follow-ups.ics"',
    });
    for (const line of body.split('\r\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
    expect(body.endsWith('END:VCALENDAR\r\n')).toBe(true);
    expect(body).not.toMatch(/[^\r]\n|BEGIN:VALARM|ATTENDEE|ORGANIZER/);
    const calendar = parsed(body);
    expect(calendar.getFirstPropertyValue('x-wr-calname')).toBe('Follow-ups');
    expect(String(calendar.getFirstPropertyValue('refresh-interval'))).toBe('PT1H');
    expect(calendar.getFirstPropertyValue('x-published-ttl')).toBe('PT1H');
    const all = Object.fromEntries(events(body).map((one) => [one.summary, one]));
    expect(Object.keys(all)).toEqual(['Follow-up: recent AG', 'Follow-up: moment AG', 'Follow-up: day AG']);
    const moment = all['Follow-up: moment AG'];
    const whole = all['Follow-up: day AG'];
    expect(moment?.startDate.toJSDate().getTime()).toBe(noon + 3 * day);
    expect([moment?.startDate.isDate, moment?.sequence]).toEqual([false, 4]);
    expect(moment?.description).toContain('Köln');
    expect(moment?.component.getFirstPropertyValue('url')).toBe('https://app.example.com/leads/moment');
    expect(moment?.component.getFirstPropertyValue('last-modified')).not.toBeNull();
    expect([whole?.startDate.isDate, whole?.startDate.toString(), whole?.endDate.toString()]).toEqual([
      true,
      '2027-11-17',
      '2027-11-18',
    ]);
    expect(whole?.uid).toMatch(/^follow-up\.[0-9a-f]{32}@example\.org$/);

    // Another parser reads the same.
    const others = Object.values(nodeIcal.sync.parseICS(body)).filter((one) => one?.type === 'VEVENT');
    expect(others.map((one) => [one.uid, one.summary, one.start.getTime()])).toEqual(
      [all['Follow-up: recent AG'], moment, whole].map((one) => [
        one?.uid,
        one?.summary,
        one === whole ? new Date(2027, 10, 17).getTime() : one?.startDate.toJSDate().getTime(),
      ]),
    );
  });

  test('in the language of each connection, with nothing of anybody else', async () => {
    await follow('main', 'bens', noon + day, { recipients: [ben] });
    await follow('nord', 'nords', noon + 2 * day, { recipients: [ben] });
    const { body } = await read(ben);
    expect(events(body).map(({ summary }) => summary)).toEqual([
      'Follow-up: bens AG',
      'Wiedervorlage: nords AG',
    ]);
  });

  test('an entry keeps its UID when it moves, and a follow-up that ends leaves the feed', async () => {
    await follow('main', 'mover', noon + 5 * day);
    const find = async () => events((await read()).body).find(({ summary }) => summary.includes('mover'));
    const before = await find();
    await follow('main', 'mover', noon + 6 * day, { sequence: 1 });
    const after = await find();
    expect([after?.uid, after?.sequence]).toEqual([before?.uid, 1]);
    expect(after?.startDate.toJSDate().getTime()).toBe(noon + 6 * day);
    await follow('main', 'mover', null, { sequence: 2 });
    expect(await find()).toBeUndefined();
  });

  test('hostile values stay within their entry', async () => {
    const companyName = 'A\r\nEND:VEVENT\nBEGIN:VALARM;x,y\\n "q" \u202E';
    await follow('main', 'hostile', noon + 7 * day, { companyName });
    const { body } = await read();
    const found = events(body).filter(({ summary }) => summary.includes('END:VEVENT'));
    expect(found.map(({ summary }) => summary)).toEqual(['Follow-up: A END:VEVENT BEGIN:VALARM;x,y\\n "q"']);
    await follow('main', 'hostile', null);
  });

  test('unchanged: 304; a change, and only that, has another ETag; a head has no body', async () => {
    const path = await addressOf(anna);
    const first = await site.ask(path);
    const etag = String(first.headers['etag']);
    expect(etag).toMatch(/^"[\w-]{20,}"$/);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const reply = await site.ask(path, { headers: { 'if-none-match': known } });
      expect([reply.status, reply.body, reply.headers['etag']], known).toEqual([304, '', etag]);
    }
    expect((await site.ask(path)).body).toBe(first.body);
    const head = await site.ask(path, { method: 'HEAD' });
    expect([head.status, head.body, head.headers['etag']]).toEqual([200, '', etag]);
    await follow('main', 'moment', noon + 3 * day, { sequence: 4, companyName: 'Renamed AG' });
    const after = await site.ask(path, { headers: { 'if-none-match': etag } });
    expect(after.status).toBe(200);
    expect(after.headers['etag']).not.toBe(etag);
  });

  test('needs no admin token, on any name; everything else does', async () => {
    const path = await addressOf(anna);
    const headers = { host: 'calendar.example.com' };
    expect((await site.ask(path, { headers })).status).toBe(200);
    expect((await site.ask('/', { headers })).status).toBe(401);
    expect((await site.ask(path, { method: 'DELETE' })).status).toBe(405);
    const { app } = site;
    await using tokenless = await startHttpServer({
      ...app,
      config: { ...app.config, http: { host: '0.0.0.0', port: 0 } },
    });
    expect((await askOnce(tokenless.port, path, { headers })).status).toBe(200);
    expect((await askOnce(tokenless.port, '/')).status).toBe(403);
    const connections = app.config.configured.filter(({ name }) => name === 'off');
    await using without = await startHttpServer({
      ...app,
      config: { ...app.config, configured: connections },
    });
    expect((await askOnce(without.port, path)).status, 'no connection has feeds').toBe(401);
  });

  test('an address that was replaced, or never was, is as any at which there is nothing; guesses are limited', async () => {
    const { app } = site;
    const path = await addressOf(anna);
    await replaceFeedToken(app.pool, anna);
    const next = await addressOf(anna);
    await using server = await startHttpServer(app);
    const bearer = { authorization: `Bearer ${adminToken}` };
    const nothing = await site.ask('/nothing', { headers: bearer });
    for (const wrong of [
      path,
      '/calendar/x.ics',
      `${next}x`,
      next.replace('.ics', ''),
      '/calendar/%00.ics',
    ]) {
      const reply = await askOnce(server.port, wrong);
      expect([reply.status, reply.body], wrong).toEqual([404, nothing.body]);
    }
    expect((await askOnce(server.port, next)).status).toBe(200);
    const guesses: number[] = [];
    for (let n = 0; n < 12; n++) guesses.push((await askOnce(server.port, `/calendar/${n}.ics`)).status);
    expect(new Set(guesses)).toEqual(new Set([404, 429]));
    const limited = await askOnce(server.port, '/calendar/x.ics');
    expect([limited.status, Number(limited.headers['retry-after'])]).toEqual([429, 1]);
    // Others may ask from the same address, as behind a proxy.
    expect((await askOnce(server.port, next)).status).toBe(200);
    expect((await askOnce(server.port, '/metrics', { headers: bearer })).status, 'pages are not').toBe(200);
  });

  test('the token is in no log', async () => {
    const lines: string[] = [];
    const pool = openDatabase({ connectionString: 'postgres://127.0.0.1:1/none' });
    const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) });
    await using server = await startHttpServer({ ...site.app, pool, log });
    const reply = await askOnce(server.port, '/calendar/very-secret.ics');
    await pool.end();
    expect(reply.status).toBe(500);
    expect(lines.join('')).toContain('/calendar/:token');
    expect(lines.join('') + reply.body).not.toContain('very-secret');
  });
});

test('5,000 follow-ups: all of them, the first ones of more, without holding up the process', async () => {
  const { pool } = site.app;
  await pool.query(
    `insert into pairs (connection, lead_id, base)
     select 'west', 'many' || n, jsonb_build_object('companyName', 'Company ' || n, 'city', 'Berlin', 'stage', 'offer')
     from generate_series(1, 6000) n`,
  );
  await pool.query(
    `insert into follow_ups (connection, lead_id, seen, due_at, recipients)
     select 'west', 'many' || n, 's', date_trunc('minute', now()) + n * interval '1 hour', '{many@example.com}'
     from generate_series(1, 6000) n`,
  );
  const path = await addressOf('many@example.com');
  let longest = 0;
  let last = cpuMs();
  const watching = setInterval(() => {
    longest = Math.max(longest, cpuMs() - last);
    last = cpuMs();
  }, 10);
  const before = process.memoryUsage().rss;
  const reply = await site.ask(path);
  clearInterval(watching);
  const grown = (process.memoryUsage().rss - before) / 1e6;
  expect(reply.status).toBe(200);
  const found = events(reply.body);
  expect(found).toHaveLength(5_000);
  expect(found.at(-1)?.summary).toBe('Follow-up: Company 5000');
  expect(new Set(found.map(({ uid }) => uid)).size).toBe(5_000);
  expect(longest, 'ms of the processor without a pause').toBeLessThan(2_000);
  expect(grown, 'MB').toBeLessThan(500);
});
