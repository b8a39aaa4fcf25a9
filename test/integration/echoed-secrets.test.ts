import type { ServerResponse } from 'node:http';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { CalendarClient } from '../../src/caldav/calendar-client.ts';
import { Secret } from '../../src/config/secret.ts';
import { callAddress } from '../../src/http/connection.ts';
import { systemClock } from '../../src/ports/clock.ts';
import { createMailer } from '../../src/reminders/send/mail.ts';
import { HubSpotHttp } from '../../src/targets/hubspot/hubspot-http.ts';
import { openGraphAccount } from '../../src/targets/msgraph/graph-account.ts';
import { GraphHttp } from '../../src/targets/msgraph/graph-http.ts';
import { WebDavHttp } from '../../src/targets/webdav/webdav-http.ts';
import { refusal, startMailServer } from '../support/mail-server.ts';
import { secretForms } from '../support/secret-forms.ts';
import { Workspace } from '../support/workspace.ts';
import { firstPage } from './leads-api/leads-api-calls.ts';
import { client as leadsClient, key, type SeenRequest, startServer } from './leads-api/leads-api-server.ts';
import { spreadsheetId, startGoogle } from './google-sheets/sheets-api-server.ts';

const never = new AbortController().signal;
const secret = 'sk/live+7f3a&9c=0b';

/** Every form of a secret, as texts of JSON: those that JSON itself writes stand as they are. */
function repeated(own: string): string {
  return Object.values(secretForms)
    .map((form) => form(own))
    .join(' and ');
}

/** A body of JSON in which the secret stands at every place that any client reads. */
function echo(own: string): string {
  const said = repeated(own);
  const places = { code: said, message: said, category: said, detail: said, error_description: said };
  const named = { ...places, error: { ...places, errors: [places] }, errors: [places] };
  const lead = { id: '1', companyName: said, [own]: said };
  // Escaped once more than JSON.stringify would: the forms come with escapes of their own.
  return JSON.stringify({
    ...named,
    id: '1',
    items: [lead],
    lead,
    values: [[said]],
    results: [{ id: 1 }],
  }).replaceAll('/', '\\/');
}

/** Throws when a secret stands in something that a client gave out, in any form, also escaped by `inspect`. */
function assertClean(given: unknown, own: string): void {
  const shown = inspect(given, {
    depth: Infinity,
    showHidden: true,
    maxStringLength: Infinity,
    breakLength: Infinity,
  });
  const texts = [shown, JSON.stringify(given) ?? '', String(given)];
  for (const [name, form] of Object.entries(secretForms))
    for (const text of texts)
      expect([name, text.includes(form(own)), text.includes(JSON.stringify(form(own)).slice(1, -1))]).toEqual(
        [name, false, false],
      );
}

const address = (url: string): string =>
  `${url}/hooks/${encodeURIComponent(secret)}?token=${encodeURIComponent(secret)}`;
const authorization = `Basic ${Buffer.from(`anna:${secret}`).toString('base64')}`;

const clients: Readonly<Record<string, (url: string) => Promise<unknown>>> = {
  HubSpot: async (url) => {
    await using http = new HubSpotHttp({
      accessToken: new Secret(secret),
      apiUrl: url,
      clock: systemClock,
    } as never);
    const reply = z.unknown().describe('anything');
    return await http.ask({ kind: 'read', path: '/crm', reply }, never);
  },
  'Microsoft Graph': (url) => {
    const account = { token: async () => secret };
    const http = new GraphHttp('x', { apiUrl: url, account, clock: systemClock });
    return http.ask({ path: '/me' }, never);
  },
  'an address that Microsoft gave': (url) => {
    const account = { token: async () => 'other' };
    const http = new GraphHttp('x', { apiUrl: 'http://127.0.0.1:1', account, clock: systemClock });
    return http.ask({ path: address(url).replace(/hooks.*\?/, 'up?') }, never);
  },
  'Microsoft Entra': (url) => {
    const tenant = '11111111-2222-4333-8444-555555555555';
    const app = {
      tenant,
      clientId: tenant,
      clientSecret: new Secret(secret),
    };
    return openGraphAccount(app, url, systemClock).token(never);
  },
  WebDAV: (url) =>
    new WebDavHttp({ url: `${url}/a.csv`, authorization: () => authorization }).ask(
      { method: 'PROPFIND' },
      never,
    ),
  CalDAV: async (url) => {
    const login = { username: 'anna', password: new Secret(secret) };
    await using client = new CalendarClient(`${url}/a/`, login);
    return await client.examine(never);
  },
  'a webhook': (url) =>
    callAddress(address(url), { body: { json: {} }, totalMs: 5_000, signal: never, clock: systemClock }),
};

describe('what a server repeats of a secret, in any form, a client gives to nobody', () => {
  test.each(Object.entries(clients))('%s', async (_name, ask) => {
    for (const status of [200, 302, 400, 401, 403, 404, 409, 423, 429, 500, 503]) {
      await using server = await startServer((response) => {
        const headers = {
          location: `/${repeated(secret)}`,
          'www-authenticate': `${secret} x`,
          etag: `"${secret}"`,
        };
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(echo(secret));
      });
      const given = await ask(server.url).catch((error: unknown) => error);
      assertClean(given, secret);
    }
  });

  test('Leads', async () => {
    for (const status of [200, 400, 401, 403, 404, 409, 422, 429, 500]) {
      await using server = await startServer((response) =>
        response.writeHead(status, { location: `/v1/leads/${key}` }).end(echo(key)),
      );
      const said: unknown[] = [];
      await using leads = leadsClient(server, { log: (...line) => void said.push(line) });
      for (const call of [leads.list(firstPage, never), leads.get('1', never), leads.create({ a: 1 }, never)])
        said.push(await call.catch((error: unknown) => error));
      assertClean(said, key);
    }
  });

  test('Google Sheets', async () => {
    for (const status of [200, 400, 401, 403, 404, 429, 500]) {
      await using google = await startGoogle((response, { headers }) => {
        const token = String(headers.authorization).replace('Bearer ', '');
        const valueRanges = [{ values: [[repeated(token)]] }];
        const error = { status: 'X', message: repeated(token) };
        response
          .writeHead(status, { 'content-type': 'application/json' })
          .end(JSON.stringify({ valueRanges, error }));
      });
      const given = await google
        .api()
        .read(['A1'], 'formatted' as never, never)
        .catch((error: unknown) => error);
      assertClean(given, 'ya29.secret-1');
    }
    await using google = await startGoogle(
      () => {},
      (response, { body }) => {
        const assertion = new URLSearchParams(body).get('assertion') ?? '';
        const error_description = repeated(assertion);
        response
          .writeHead(400, { 'content-type': 'application/json' })
          .end(JSON.stringify({ error: 'invalid_grant', error_description }));
      },
    );
    const given = await google
      .api({ spreadsheetId })
      .read(['A1'], 'formatted' as never, never)
      .catch((error: unknown) => error);
    const [sent] = google.tokens.map(({ body }) => new URLSearchParams(body).get('assertion') ?? '');
    assertClean(given, sent ?? '');
  });

  test('a mail server', async () => {
    await using server = await startMailServer({
      disabledCommands: ['STARTTLS'],
      onAuth: (_auth, _session, callback) => callback(refusal(535, repeated(secret))),
    });
    const url = new Secret(`smtp://anna:${encodeURIComponent(secret)}@127.0.0.1:${server.port}`);
    await using mailer = createMailer(url, '/nowhere');
    assertClean(await mailer.verify().catch((error: unknown) => error), secret);
  });
});

test('a key that the service writes into leads and errors stands in no output, run, table, state, log or backup', async () => {
  const own = 'sk/live+7f3a&9c=0b';
  await using workspace = await Workspace.open({
    sandbox: { leads: 3, apiKey: own },
    env: { LOG_LEVEL: 'debug' },
  });
  await using server = await startServer((response, asked) => {
    void answer(response, asked).catch(() => response.destroy());
  });
  async function answer(
    response: ServerResponse,
    { method, url, headers, body }: SeenRequest,
  ): Promise<void> {
    const asked = {
      method,
      headers: { authorization: headers.authorization ?? '', 'content-type': 'application/json' },
    };
    const real = await fetch(workspace.sandbox.url + url, { ...asked, ...(body !== '' && { body }) });
    const text = await real.text();
    if (method === 'PATCH') {
      response.writeHead(422).end(echo(own));
      return;
    }
    const planted = text.replaceAll(
      /"city":("[^"]*"|null)/g,
      () => `"city":${JSON.stringify(repeated(own)).replaceAll('/', '\\/')}`,
    );
    response.writeHead(real.status, { 'content-type': 'application/json' }).end(planted);
  }
  workspace.configure({ leads: { baseUrl: server.url } });
  const said = [await workspace.cli('sync')];
  expect(said[0]).toMatchObject({ code: 0 });
  expect(workspace.sheet.rows()[0]?.['City']).toContain('[secret]');
  workspace.sheet.edit(() => true, { Stage: 'won' });
  said.push(await workspace.cli('sync'));
  const shown = [
    ['status', '--runs'],
    ['status', '--runs', '--json'],
    ['conflicts'],
    ['conflicts', '--json'],
    ['check'],
    ['backup', 'all.backup'],
  ];
  for (const args of shown) said.push(await workspace.cli(...args));
  const backup = await readFile(join(workspace.folder, 'all.backup'));
  const kept = [
    await readFile(workspace.sheet.path, 'utf8'),
    backup[0] === 0x1f ? gunzipSync(backup).toString() : backup.toString(),
  ];
  const { rows: tables } = await workspace.database.pool.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'leadsync'`,
  );
  for (const { name } of tables) {
    const { rows } = await workspace.database.pool.query<{ text: string }>(
      `select t::text as text from ${name} t`,
    );
    kept.push(...rows.map(({ text }) => text));
  }
  expect(kept.join('')).toContain('[secret]');
  assertClean([said, kept], own);
});
