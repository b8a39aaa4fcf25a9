import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { SyncReport } from '../../../src/sync/report.ts';
import { advanceRun } from '../../../src/sync/run.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';
import { client, json, never, startServer, thrown } from '../leads-api/leads-api-server.ts';

const lead = (id: string, cells: object = {}) => ({ id, companyName: `Company ${id}`, ...cells });

/** A sync of a new CSV file with a service that answers each request for a page, from 1 on, as it likes. */
async function syncWith(
  page: (count: number) => object | string,
  scanBounds?: { bytes: number; barrenPages: number },
) {
  await using workspace = await Workspace.open();
  await using server = await startServer((response, _request, count) => {
    const answer = page(count);
    if (typeof answer !== 'string') return json(response, 200, answer);
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
  });
  workspace.configure({ leads: { baseUrl: server.url } });
  await using app = await workspace.openApp();
  const context = app.contexts.get(connectionName);
  if (context === undefined) throw new Error('the connection is not configured');
  const bounded = scanBounds === undefined ? context : { ...context, scanBounds };
  const result = await advanceRun(bounded, { mode: 'sync', allow: [], maxAttempts: 1 }, never);
  if (result.kind !== 'finished') throw new Error(`not finished: ${result.why}`);
  const staged = await app.pool.query('select 1 from run_sights');
  const report = result.run.report as SyncReport;
  const rows = report.status === 'failed' ? [] : workspace.sheet.rows();
  return { report, requests: server.seen.length, staged: staged.rowCount, rows };
}

describe('a service without end', () => {
  const bounds = { bytes: 4_000, barrenPages: 5 };
  /** Pages that may be under way, or wait to be stored, when the end is seen (see pull.ts). */
  const askedAhead = 16;

  test.each([
    ['empty pages', () => [], 6],
    ['the same lead again and again', () => [lead('a')], 7],
    ['ever new leads', (count: number) => [lead(`a${count}`), lead(`b${count}`)], 18],
    ['leads of any size', (count: number) => [lead(`a${count}`, { city: 'x'.repeat(10_000) })], 1],
  ])('%s: the scan is given up with nothing written', async (_name, items, requests) => {
    const found = await syncWith((count) => ({ items: items(count), nextCursor: `c${count}` }), bounds);
    expect(found.report).toMatchObject({
      status: 'failed',
      created: { leads: 0, rows: 0 },
      problems: [{ code: 'leads.endless' }],
    });
    expect(found.staged).toBe(0);
    expect(found.requests).toBeGreaterThanOrEqual(requests);
    expect(found.requests).toBeLessThanOrEqual(requests + askedAhead);
  });

  test('as many empty pages as are borne, between pages of leads, are no reason to give up', async () => {
    const isEmpty = (count: number): boolean => count % 5 !== 0;
    const found = await syncWith(
      (count) => ({
        items: isEmpty(count) ? [] : [lead(`a${count}`)],
        nextCursor: count < 7 ? `c${count}` : null,
      }),
      bounds,
    );
    expect(found.report).toMatchObject({ status: 'succeeded', created: { rows: 1 } });
  });

  test('ever new cursors after the last lead: some twenty pages more, and not 9,000', async () => {
    const found = await syncWith((count) => ({
      items: count > 3 ? [] : [lead(`a${count}`)],
      nextCursor: `c${count}`,
    }));
    expect(found.report).toMatchObject({ status: 'failed', problems: [{ code: 'leads.endless' }] });
    expect(found.requests).toBeGreaterThan(23);
    expect(found.requests).toBeLessThanOrEqual(24 + askedAhead);
    const whole = await syncWith((count) => ({
      items: count % 21 === 0 ? [lead(`a${count}`)] : [],
      nextCursor: count < 42 ? `c${count}` : null,
    }));
    expect(whole.report).toMatchObject({ status: 'succeeded', created: { rows: 2 } });
  });

  test('unusable items on every page are told of, and not without end', async () => {
    const found = await syncWith((count) => ({
      items: [{}, lead(`a${count}`)],
      nextCursor: count < 25 ? `c${count}` : null,
    }));
    expect(found.report.problems).toHaveLength(20);
    expect(found.report.status).toBe('partial');
  });
});

test('ids that cannot be stored, found again or shown are none, and harm no other lead', async () => {
  const unusable = ['a\0b', '\u001b[2Ja', 'a\ud800', 'a\u2028b', randomBytes(6_000).toString('base64')];
  const items = [...unusable, 'good'].map((id) => lead(id));
  const found = await syncWith(() => ({ items, nextCursor: null }));
  const [problem, ...others] = found.report.problems;
  expect(problem).toMatchObject({ code: 'leads.item-invalid', message: expect.stringMatching(/^5 item/) });
  expect([others, found.rows.map((row) => row['Lead ID'])]).toEqual([[], ['good']]);
});

test('ids and fields that mean something to JavaScript or to a path are names like others', async () => {
  const ids = ['__proto__', 'constructor', '../../x', '%2e%2e'];
  const body = JSON.stringify({ items: ids.map((id) => lead(id)), nextCursor: null });
  const found = await syncWith(() =>
    body.replaceAll('"companyName"', '"__proto__":{"city":"evil"},"companyName"'),
  );
  expect(found.report).toMatchObject({ status: 'succeeded', created: { rows: 4 } });
  expect(new Set(found.rows.map((row) => row['Lead ID']))).toEqual(new Set(ids));
  expect(found.rows.map((row) => row['City'])).toEqual(['', '', '', '']);
});

test('numbers that cannot be held: one out of range is held in the lead, the digits of a long one stay', async () => {
  const found = await syncWith(
    () =>
      `{"items":[{"id":"far","companyName":"Far","city":1e400},{"id":"long","companyName":"Long","city":12345678901234567890}]}`,
  );
  expect(found.report).toMatchObject({
    status: 'partial',
    problems: [{ code: 'lead.unreadable', field: 'city', message: expect.stringContaining('"1e400"') }],
  });
  expect(found.rows.map((row) => `${row['Lead ID']} ${row['City']}`).toSorted()).toEqual([
    'far ',
    'long 12345678901234567890',
  ]);
});

test('a cursor of 8,000 characters is used; one with NUL, or of any length, is no page', async () => {
  const long = randomBytes(6_000).toString('base64');
  const found = await syncWith((count) => ({
    items: [lead(`a${count}`)],
    nextCursor: count === 1 ? long : null,
  }));
  expect(found.report).toMatchObject({ status: 'succeeded', created: { rows: 2 } });
  for (const cursor of ['a\0', 'x'.repeat(9_000)]) {
    await using server = await startServer((response) =>
      json(response, 200, { items: [], nextCursor: cursor }),
    );
    await using leads = client(server);
    const error = await thrown(leads.list({ cursor: null, limit: null }, never));
    expect(error).toMatchObject({ code: 'leads.not-json' });
  }
});

test('lists in lists, 100,000 deep, make that one cell unreadable', async () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const found = await syncWith(() => `{"items":[{"id":"a","city":${deep}},{"id":"b"}],"nextCursor":null}`);
  expect(found.report).toMatchObject({ created: { rows: 2 }, receipt: { unexplained: 0 } });
});

test('what a service says instead of an answer is repeated, unless it may be leads', async () => {
  const said = async (body: string): Promise<string> => {
    await using server = await startServer((response) => response.end(body));
    await using leads = client(server);
    return String(await thrown(leads.list({ cursor: null, limit: null }, never)));
  };
  expect(await said('<h1>Please log in</h1>')).toContain('Please log in');
  for (const body of ['{"leads":[{"companyName":"Acme"}]}', '{"items":[{"companyName":"Acme', '\n["Acme"]'])
    expect(await said(body)).not.toContain('Acme');
});
