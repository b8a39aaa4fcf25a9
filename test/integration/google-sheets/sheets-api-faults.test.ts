import type { ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { GoogleFault } from '../../../src/targets/google-sheets/google-fault.ts';
import type { SheetsApi } from '../../../src/targets/google-sheets/sheets-api.ts';
import { json, thrown } from '../leads-api/leads-api-server.ts';
import { accountEmail, apiError, never, privateKey, startGoogle } from './sheets-api-server.ts';

const read = (api: SheetsApi): Promise<unknown> => api.read(['A'], 'FORMULA', never);
const write = (api: SheetsApi): Promise<unknown> => api.write([{ range: 'A', values: [['1']] }], never);

const html = (response: ServerResponse, status: number): void => {
  response.writeHead(status, { 'content-type': 'text/html' }).end('<html><h1>Error</h1></html>');
};

test.each<[string, (response: ServerResponse) => void, string, string]>([
  ['400', (r) => json(r, 400, apiError(400, 'INVALID_ARGUMENT', 'No grid')), 'target.refused', 'never'],
  ['409', (r) => json(r, 409, apiError(409, 'ABORTED', 'x')), 'target.refused', 'never'],
  ['413', (r) => html(r, 413), 'target.refused', 'never'],
  ['401', (r) => json(r, 401, apiError(401, 'UNAUTHENTICATED', 'x')), 'target.unauthenticated', 'never'],
  ['403', (r) => json(r, 403, apiError(403, 'PERMISSION_DENIED', 'x')), 'target.forbidden', 'never'],
  ['404', (r) => json(r, 404, apiError(404, 'NOT_FOUND', 'x')), 'target.not-found', 'never'],
  ['408 in HTML', (r) => html(r, 408), 'target.unavailable', 'now'],
  ['500', (r) => json(r, 500, apiError(500, 'INTERNAL', 'x')), 'target.unavailable', 'now'],
  ['502 in HTML', (r) => html(r, 502), 'target.unavailable', 'now'],
  ['503 without a body', (r) => r.writeHead(503).end(), 'target.unavailable', 'now'],
  ['a page in the place of the reply', (r) => html(r, 200), 'target.unavailable', 'now'],
  [
    'JSON that is none',
    (r) => r.writeHead(200, { 'content-type': 'application/json' }).end('{"a'),
    'target.unavailable',
    'now',
  ],
  ['nothing', (r) => r.writeHead(204).end(), 'target.unavailable', 'now'],
  ['a reset', (r) => r.destroy(), 'target.unavailable', 'now'],
  [
    'a reply cut short',
    (r) => r.writeHead(200, { 'content-length': 99 }).write('{', () => r.destroy()),
    'target.unavailable',
    'now',
  ],
])('%s: one request, and the code tells what it means', async (name, answer, code, retry) => {
  await using google = await startGoogle((response) => answer(response));
  const api = google.api();
  for (const call of [read, write]) {
    const error = await thrown(call(api));
    // A write that was not answered, or not with success, may be carried out half a minute later.
    const isAnswered = ['a page in the place of the reply', 'JSON that is none', 'nothing'].includes(name);
    const isLate = call === write && code === 'target.unavailable' && !isAnswered;
    const again = isLate ? { retry: 'later', retryAfterMs: 30_000 } : { retry };
    expect(error).toMatchObject({ name: 'GoogleFault', code, ...again, cause: undefined });
  }
  expect([google.asked.length, api.requests]).toEqual([2, 2]);
});

test("Google's words are handed on, on one line and not too long", async () => {
  const words = `Unable to parse range:\n ${'x'.repeat(1000)}`;
  await using google = await startGoogle((response) =>
    json(response, 400, apiError(400, 'INVALID_ARGUMENT', words)),
  );
  const error = (await thrown(read(google.api()))) as GoogleFault;
  expect(error).toMatchObject({
    status: 400,
    words: expect.stringMatching(/^Unable to parse range: x{50,280}…$/),
  });
  expect(error.message).toContain('Unable to parse range: xxx');
});

test('after 503 its status is told, and Retry-After is obeyed', async () => {
  await using google = await startGoogle((response) => json(response, 503, {}, { 'retry-after': '9' }));
  expect(await thrown(write(google.api()))).toMatchObject({
    code: 'target.unavailable',
    status: 503,
    retry: 'later',
    retryAfterMs: 9_000,
  });
});

test('no answer in time', async () => {
  await using google = await startGoogle(() => {});
  const api = google.api({}, { read: 100, write: 150, drive: 100 });
  const unanswered = { code: 'target.unavailable', status: null };
  expect(await thrown(read(api))).toMatchObject({ ...unanswered, retry: 'now' });
  expect(await thrown(write(api))).toMatchObject({ ...unanswered, retry: 'later', retryAfterMs: 30_000 });
  expect(google.asked).toHaveLength(2);
});

test('nobody listens there', async () => {
  const google = await startGoogle((response) => json(response, 200, { valueRanges: [{}] }));
  const api = google.api();
  await read(api);
  await google[Symbol.asyncDispose]();
  expect(await thrown(read(api))).toMatchObject({ code: 'target.unavailable', retry: 'later', status: null });
});

test('a reply that is over the limit is not taken in', async () => {
  await using google = await startGoogle((response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 300 * 1024 * 1024 });
    response.write('{');
  });
  expect(await thrown(read(google.api()))).toMatchObject({ code: 'target.too-large', retry: 'never' });
});

test.each([
  ['fewer grids than ranges', { valueRanges: [] }],
  ['a cell that is an object', { valueRanges: [{ values: [[{}]] }] }],
  ['a row that is none', { valueRanges: [{ values: ['a'] }] }],
  ['no grids', {}],
])('a senseless reply: %s', async (_name, body) => {
  await using google = await startGoogle((response) => json(response, 200, body));
  expect(await thrown(read(google.api()))).toMatchObject({ code: 'target.unavailable', retry: 'now' });
});

describe('quota', () => {
  const exhausted = (limit: string): unknown =>
    apiError(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded', {
      reason: 'RATE_LIMIT_EXCEEDED',
      metadata: { quota_limit: limit, quota_limit_value: '60', service: 'sheets.googleapis.com' },
    });

  test.each([
    ['ReadRequestsPerMinutePerUser', { read: 15_000, write: 0 }],
    ['WriteRequestsPerMinutePerProject', { read: 0, write: 15_000 }],
    ['SomethingElse', { read: 15_000, write: 15_000 }],
  ])('%s shuts its own bucket, and nothing is sent meanwhile', async (limit, waits) => {
    await using google = await startGoogle((response, _request, count) =>
      count === 1 ? json(response, 429, exhausted(limit)) : json(response, 200, { valueRanges: [{}] }),
    );
    const api = google.api();
    expect(await thrown(read(api))).toMatchObject({
      code: 'target.rate-limited',
      retry: 'later',
      retryAfterMs: 15_000,
    });
    const wait = async (call: (api: SheetsApi) => Promise<unknown>): Promise<unknown> => {
      const error = await call(google.api({ spreadsheetId: 'another' })).catch((error: unknown) => error);
      return error instanceof Error && 'retryAfterMs' in error ? error.retryAfterMs : 0;
    };
    expect({ read: await wait(read), write: await wait(write) }).toEqual(waits);
    google.clock.epochMs += 15_000;
    await read(api);
    await write(api);
  });

  test.each([
    ['7', 7_000],
    ['0', 15_000],
    ['soon', 15_000],
  ])('Retry-After %s', async (value, waitMs) => {
    const body = exhausted('ReadRequestsPerMinutePerUser');
    await using google = await startGoogle((response) => json(response, 429, body, { 'retry-after': value }));
    expect(await thrown(read(google.api()))).toMatchObject({ retryAfterMs: waitMs });
    expect(google.asked).toHaveLength(1);
  });

  test('refused again and again: longer waits, until requests are let through', async () => {
    const replies: ((response: ServerResponse) => void)[] = [
      (response) => response.writeHead(429).end(),
      (response) => json(response, 403, apiError(403, 'X', 'x', { reason: 'RATE_LIMIT_EXCEEDED' })),
      (response) => json(response, 400, apiError(400, 'RESOURCE_EXHAUSTED', 'x')),
      (response) => json(response, 200, { valueRanges: [{}] }),
      (response) => json(response, 200, {}),
      (response) => response.writeHead(429).end(),
    ];
    await using google = await startGoogle((response, _request, count) => replies[count - 1]?.(response));
    const api = google.api();
    for (const retryAfterMs of [15_000, 30_000, 48_000]) {
      expect(await thrown(read(api))).toMatchObject({ code: 'target.rate-limited', retryAfterMs });
      google.clock.epochMs += retryAfterMs;
    }
    await read(api);
    await write(api);
    expect(await thrown(read(api))).toMatchObject({ code: 'target.rate-limited', retryAfterMs: 15_000 });
  });
});

describe('what helps', () => {
  test.each([
    [403, undefined, accountEmail],
    [403, 'SERVICE_DISABLED', 'Enable the Google Sheets API'],
    [403, 'ACCESS_TOKEN_SCOPE_INSUFFICIENT', 'auth/spreadsheets'],
    [404, undefined, accountEmail],
    [401, undefined, 'GOOGLE_APPLICATION_CREDENTIALS'],
  ])('%i %s: %s', async (status, reason, words) => {
    const info = reason === undefined ? undefined : { reason };
    await using google = await startGoogle((response) =>
      json(response, status, apiError(status, 'X', 'no', info)),
    );
    expect(await thrown(read(google.api()))).toMatchObject({ help: expect.stringContaining(words) });
  });
});

test('after 401 another token is asked for', async () => {
  await using google = await startGoogle((response, _request, count) =>
    count === 1
      ? json(response, 401, apiError(401, 'UNAUTHENTICATED', 'x'))
      : json(response, 200, { valueRanges: [{}] }),
  );
  const api = google.api();
  expect(await thrown(read(api))).toMatchObject({ code: 'target.unauthenticated' });
  await read(api);
  expect(google.asked.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer ya29.secret-1',
    'Bearer ya29.secret-2',
  ]);
});

test.each([400, 401, 403, 404, 429, 500])(
  'nothing secret is in the error of a %i, though the reply shows it',
  async (status) => {
    await using google = await startGoogle((response, { headers }) =>
      json(response, status, apiError(status, 'X', `you sent ${headers.authorization}`)),
    );
    const error = await thrown(read(google.api()));
    const shown = [
      inspect(error, { depth: null, showHidden: true, getters: true }),
      JSON.stringify(error),
      (error as Error).message,
    ].join('\n');
    const [assertion = ''] = google.tokens.map(
      ({ body }) => new URLSearchParams(body).get('assertion') ?? '',
    );
    expect(assertion.length).toBeGreaterThan(100);
    for (const secret of ['ya29.secret-1', assertion, privateKey.split('\n')[1] ?? '']) {
      expect(secret).not.toBe('');
      expect(shown).not.toContain(secret);
    }
  },
);
