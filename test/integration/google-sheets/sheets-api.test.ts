import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { LeadsyncError } from '../../../src/lib/errors.ts';
import { json, thrown } from '../leads-api/leads-api-server.ts';
import { accountEmail, never, spreadsheetId, startGoogle } from './sheets-api-server.ts';

test('describes the spreadsheet: ranges, field mask, signed', async () => {
  const description = {
    properties: { title: 'Leads', timeZone: 'Europe/Berlin', locale: 'de_DE' },
    sheets: [
      { properties: { sheetId: 0, title: 'My leads', gridProperties: { rowCount: 10, columnCount: 3 } } },
    ],
  };
  await using google = await startGoogle((response) => json(response, 200, description));
  const ranges = ["'My leads'!1:2", 'Other!A:B'];
  expect(await google.api().describe(ranges, 'properties(title),sheets', never)).toEqual(description);
  const [asked] = google.asked;
  const url = new URL(asked?.url ?? '', google.url);
  expect(url.pathname).toBe(`/v4/spreadsheets/${spreadsheetId}`);
  expect(url.searchParams.getAll('ranges')).toEqual(ranges);
  expect(url.searchParams.get('fields')).toBe('properties(title),sheets');
  expect(asked).toMatchObject({ method: 'GET', headers: { authorization: 'Bearer ya29.secret-1' } });
});

test('reads several ranges, ragged and empty as they come', async () => {
  const values = [['id', '=A1', 0, false], [], ['', null, 46_000.5]];
  await using google = await startGoogle((response) =>
    json(response, 200, { spreadsheetId, valueRanges: [{ range: 'A', values }, { range: 'B' }] }),
  );
  expect(await google.api().read(["'A'", 'B'], 'FORMULA', never)).toEqual([values, []]);
  const url = new URL(google.asked[0]?.url ?? '', google.url);
  expect(url.pathname).toBe(`/v4/spreadsheets/${spreadsheetId}/values:batchGet`);
  expect([...url.searchParams].toSorted(([a], [b]) => a.localeCompare(b))).toEqual([
    ['dateTimeRenderOption', 'SERIAL_NUMBER'],
    ['majorDimension', 'ROWS'],
    ['ranges', "'A'"],
    ['ranges', 'B'],
    ['valueRenderOption', 'FORMULA'],
  ]);
});

test('writes raw values, and updates, in one request each', async () => {
  await using google = await startGoogle((response) => json(response, 200, { spreadsheetId }));
  const api = google.api();
  await api.write([{ range: "'A'!B2", values: [['=1+1', null, '']] }], never);
  await api.update([{ insertDimension: { range: { sheetId: 7 } } }], never);
  expect(google.asked.map(({ method, url, body }) => [method, url.split('?')[0], JSON.parse(body)])).toEqual([
    [
      'POST',
      `/v4/spreadsheets/${spreadsheetId}/values:batchUpdate`,
      { valueInputOption: 'RAW', data: [{ range: "'A'!B2", values: [['=1+1', null, '']] }] },
    ],
    [
      'POST',
      `/v4/spreadsheets/${spreadsheetId}:batchUpdate`,
      { requests: [{ insertDimension: { range: { sheetId: 7 } } }] },
    ],
  ]);
  expect(api.requests).toBe(2);
  expect(google.tokens).toHaveLength(1);
});

test('two objects of one spreadsheet ask one after the other; another spreadsheet does not wait', async () => {
  const waiting: (() => void)[] = [];
  const arrived = Promise.withResolvers<void>();
  await using google = await startGoogle((response) => {
    waiting.push(() => json(response, 200, { valueRanges: [{}] }));
    if (waiting.length === 2) arrived.resolve();
  });
  const first = google.api().read(['A'], 'FORMULA', never);
  const second = google.api().read(['B'], 'FORMULA', never);
  const other = google.api({ spreadsheetId: 'other' }).read(['C'], 'FORMULA', never);
  await arrived.promise;
  const seen = (): string[] =>
    google.asked.map(({ url }) => new URL(url, google.url).searchParams.get('ranges') ?? '');
  expect(seen().toSorted()).toEqual(['A', 'C']);
  for (const reply of waiting.splice(0)) reply();
  await Promise.all([first, other]);
  await expect.poll(() => waiting.length).toBe(1);
  expect(seen().at(-1)).toBe('B');
  for (const reply of waiting.splice(0)) reply();
  expect(await second).toEqual([[]]);
});

test('the signal is asked once just before each request', async () => {
  await using google = await startGoogle((response) =>
    json(response, 200, { valueRanges: [], trashed: false }),
  );
  const { signal } = new AbortController();
  const askedBefore: number[] = [];
  signal.throwIfAborted = () => {
    askedBefore.push(google.asked.length);
  };
  const api = google.api();
  await api.describe([], 'sheets', signal);
  await api.read([], 'FORMULA', signal);
  await api.write([], signal);
  await api.update([], signal);
  await api.file(signal);
  expect(askedBefore).toEqual([0, 1, 2, 3, 4]);
});

test('an aborted signal: nothing is sent; what is under way is broken off', async () => {
  const begun = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  await using google = await startGoogle((response) => {
    response.on('close', () => closed.resolve());
    begun.resolve();
  });
  const api = google.api();
  const reason = new Error('stop');
  expect(await thrown(api.read(['A'], 'FORMULA', AbortSignal.abort(reason)))).toBe(reason);
  expect([google.asked, google.tokens]).toEqual([[], []]);

  const stop = new AbortController();
  const call = thrown(api.read(['A'], 'FORMULA', stop.signal));
  await begun.promise;
  stop.abort(reason);
  expect(await call).toBe(reason);
  await closed.promise;
});

test('the bucket of an account is the same for all its spreadsheets, and reads are not writes', async () => {
  await using google = await startGoogle((response) => json(response, 200, { valueRanges: [] }));
  const one = google.api({ perMinute: { read: 2, write: 60 } });
  const two = google.api({ perMinute: { read: 2, write: 60 }, spreadsheetId: 'two' });
  await one.read([], 'FORMULA', never);
  google.clock.epochMs += 20_000;
  await two.describe([], 'sheets', never);
  const limited = await thrown(one.read([], 'FORMULA', never));
  expect(limited).toMatchObject({ code: 'target.rate-limited', retry: 'later', retryAfterMs: 40_000 });
  expect([google.asked.length, one.requests]).toEqual([2, 1]);
  await one.write([], never);
  google.clock.epochMs += 40_000;
  await two.read([], 'FORMULA', never);
});

const noVersion = { version: null, modifiedAt: null };

test.each([
  [
    200,
    { version: '17', modifiedTime: '2026-11-26T08:00:00.000Z' },
    { trashed: null, canEdit: null, author: null, version: '17', modifiedAt: Date.UTC(2026, 10, 26, 8) },
  ],
  [200, { version: 17, modifiedTime: 'today' }, { trashed: null, canEdit: null, author: null }],
  [200, { trashed: true, capabilities: { canEdit: true } }, { trashed: true, canEdit: true, author: null }],
  [
    200,
    { trashed: false, capabilities: { canEdit: false } },
    { trashed: false, canEdit: false, author: null },
  ],
  [200, { trashed: false }, { trashed: false, canEdit: null, author: null }],
  [200, { trashed: 'true', capabilities: { canEdit: true } }, { trashed: null, canEdit: true, author: null }],
  [200, [], { trashed: null, canEdit: null, author: null }],
  [403, { error: { code: 403 } }, { trashed: null, canEdit: null, author: null }],
  [429, { error: { code: 429 } }, { trashed: null, canEdit: null, author: null }],
])('what Drive tells: %i %j is %j', async (status, body, state) => {
  await using google = await startGoogle((response) => json(response, status, body));
  const api = google.api();
  expect(await api.file(never)).toEqual({ ...noVersion, ...state });
  expect(google.asked.map(({ url }) => url)).toEqual([
    `/drive/v3/files/${spreadsheetId}?fields=trashed,capabilities/canEdit,version,modifiedTime,lastModifyingUser(me,displayName,emailAddress)&supportsAllDrives=true`,
  ]);
  expect(api.requests).toBe(1);
});

test.each<[string, (response: ServerResponse) => void]>([
  ['does not answer', () => {}],
  ['hangs up', (response) => response.destroy()],
])('what Drive tells: one that %s is asked again the next time', async (_, answer) => {
  let isBroken = true;
  await using google = await startGoogle((response) =>
    isBroken ? answer(response) : json(response, 200, { trashed: true }),
  );
  const api = google.api({}, { read: 60_000, write: 60_000, drive: 150 });
  expect(await api.file(never)).toEqual({ trashed: null, canEdit: null, author: null, ...noVersion });
  isBroken = false;
  expect(await api.file(never)).toMatchObject({ trashed: true });
});

test('what Drive tells: a mistake of our own is not swallowed, a refused account is left to the next request', async () => {
  await using google = await startGoogle((response) => json(response, 200, { trashed: false }));
  const failing = (error: Error) => {
    const authorize = async (): Promise<never> => {
      throw error;
    };
    return google.api({ account: { ...google.account, authorize } }).file(never);
  };
  const mistake = new TypeError('x is not a function');
  await expect(failing(mistake)).rejects.toBe(mistake);
  expect(await failing(new LeadsyncError('target.unauthenticated', 'Refused.'))).toEqual({
    trashed: null,
    canEdit: null,
    author: null,
    ...noVersion,
  });
  expect(await google.api().file(never)).toMatchObject({ trashed: false });
});

test('names the address to share the spreadsheet with, without asking Google', async () => {
  await using google = await startGoogle((response) => json(response, 500, {}));
  expect(await google.api().address()).toBe(accountEmail);
  expect(google.tokens).toEqual([]);
});
