import { describe, expect, test } from 'vitest';
import { Secret } from '../../../src/config/secret.ts';
import { LeadsyncError } from '../../../src/lib/errors.ts';
import type { HubSpotFault } from '../../stand-ins/hubspot/hubspot-sandbox.ts';
import { makeHubSpotHarness } from '../../contract/hubspot-harness.ts';
import {
  anna,
  annaCells,
  append,
  bert,
  bertCells,
  headings,
  link,
  loose,
  looseCells,
  never,
  readAll,
  remove,
  update,
  verdict,
} from '../../contract/target-harness.ts';
import { scriptedPortal } from './hubspot-scripted.ts';

const table = [headings, anna, bert, loose];
const changes = [
  update('id-a', annaCells, { city: 'Rome' }),
  remove('id-b', bertCells),
  append('id-n', { name: 'New' }),
  link('id-l', looseCells),
];
/**
 * Properties, the look by id, the list and the look at those that ask, the bin, own values, tickets, and three kinds of
 * write.
 */
const requests = 10;
const wanted = [headings, anna.with(3, 'Rome'), loose.with(0, 'id-l'), ['id-n', 'New', '', '', '', '']];

const faults: [name: string, fault: HubSpotFault, code: string][] = [
  ['a lost reply', { kind: 'reset-after' }, 'target.unavailable'],
  ['a reset', { kind: 'reset' }, 'target.unavailable'],
  ['a page of a gateway', { kind: 'html' }, 'target.unavailable'],
  ['a page instead of JSON', { kind: 'not-json' }, 'target.unavailable'],
  ['half a reply', { kind: 'short' }, 'target.unavailable'],
  ['a 500', { status: 500 }, 'target.unavailable'],
  ['a 502 though it was done', { status: 502, after: true }, 'target.unavailable'],
  ['a 524', { status: 524 }, 'target.unavailable'],
  ['a 423', { status: 423 }, 'target.busy'],
  ['a 477', { status: 477, retryAfter: '5' }, 'target.unavailable'],
  ['a 429', { status: 429, policy: 'TEN_SECONDLY_ROLLING' }, 'target.rate-limited'],
];

describe('a fault of any request of a write', () => {
  test.each(faults)('%s: the repetition ends with everything written once', async (_, fault, code) => {
    let failed = true;
    for (let at = 1; failed; at++) {
      let now = Date.parse('2026-11-21T10:00:00Z');
      await using harness = await makeHubSpotHarness({ clock: { now: () => now, random: () => 0.5 } });
      harness.edit(() => table);
      const target = harness.target();
      let n = 0;
      harness.sandbox.before = () => (++n === at ? fault : undefined);
      const writing = target.write(changes, never()).then(
        () => 'done',
        (error: unknown) => error,
      );
      failed = at <= requests;
      expect([at, await writing]).toMatchObject([at, failed ? { code } : 'done']);
      harness.sandbox.before = null;
      now += 15_000;
      expect([at, ...(await target.write(changes, never())).map(verdict)]).toEqual([
        at,
        'done',
        'done',
        'done',
        'done',
      ]);
      expect(harness.show()).toEqual(wanted);
      // Nor does another process find anything to do.
      const log = harness.sandbox.requests;
      const before = log.length;
      expect((await harness.target().write(changes, never())).map(verdict)).toEqual([
        'done',
        'done',
        'done',
        'done',
      ]);
      expect(log.slice(before).filter(({ kind }) => ['update', 'create', 'archive'].includes(kind))).toEqual(
        [],
      );
    }
  });
});

test.each<[string, HubSpotFault, string, string, number | undefined, number | undefined]>([
  ['a read', { status: 503 }, 'target.unavailable', 'now', undefined, 1],
  ['a read that is told to wait', { status: 503, retryAfter: '9' }, 'target.unavailable', 'later', 9_000, 1],
  ['a write of which nobody knows', { kind: 'reset-after' }, 'target.unavailable', 'later', 10_000, 3],
  ['a locked record', { status: 423 }, 'target.busy', 'later', 2_000, 3],
  ['a locked record for longer', { status: 423, retryAfter: '8' }, 'target.busy', 'later', 8_000, 3],
  ['an account that moves', { status: 477, retryAfter: '120' }, 'target.unavailable', 'later', 120_000, 1],
  ['ten seconds', { status: 429, policy: 'TEN_SECONDLY_ROLLING' }, 'target.rate-limited', 'later', 10_000, 1],
  ['one second', { status: 429, policy: 'SECONDLY' }, 'target.rate-limited', 'later', 1_000, 1],
  ['no known limit', { status: 429 }, 'target.rate-limited', 'later', 10_000, 1],
  [
    'a limit that says when',
    { status: 429, policy: 'TEN_SECONDLY_ROLLING', retryAfter: '3' },
    'target.rate-limited',
    'later',
    3_000,
    1,
  ],
  // When the day ends was never said: it is asked again in an hour.
  ['the day', { status: 429, policy: 'DAILY' }, 'target.rate-limited', 'later', 3_600_000, 1],
  ['the token', { status: 401 }, 'target.unauthenticated', 'never', undefined, 1],
  ['the scopes', { status: 403 }, 'target.forbidden', 'never', undefined, 1],
  ['the address', { status: 404 }, 'target.not-found', 'never', undefined, 3],
])('what %s means, and when to come back', async (_, fault, code, retry, retryAfterMs, at) => {
  const clock = { now: () => Date.parse('2026-11-21T09:00:00Z'), random: () => 0.5 };
  await using harness = await makeHubSpotHarness({ clock });
  harness.edit(() => [headings, anna]);
  let n = 0;
  harness.sandbox.before = () => (++n === at ? fault : undefined);
  const error: unknown = await harness
    .target()
    .write([update('id-a', annaCells, { city: 'Rome' })], never())
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(LeadsyncError);
  expect(error).toMatchObject({ code, retry, retryAfterMs });
  expect(String(error)).not.toContain(harness.sandbox.token);
  expect(n).toBe(at);
});

test('a fault of rights names the scope that is missing, and HubSpot can be asked about it', async () => {
  await using harness = await makeHubSpotHarness({ scopes: ['crm.schemas.companies.read'] });
  harness.edit(() => [headings, anna]);
  await expect(readAll(harness.target())).rejects.toMatchObject({
    code: 'target.forbidden',
    message: expect.stringMatching(/lacks the scope crm\.objects\.companies\.read .*correlation id/),
    help: expect.stringContaining('Service keys'),
  });
});

describe('a fault of rights that says in another way what is missing', () => {
  test.each<[string, object, RegExp]>([
    ['in its context', { context: { missingScopes: ['a.read'] } }, /lacks the scope a\.read /],
    [
      'as one text',
      { context: { requiredScopes: 'a.read, b.read' } },
      /lacks each of the scopes a\.read, b\.read /,
    ],
    [
      'in its details',
      { errors: [{ context: { requiredGranularScopes: ['a.read'] } }, { context: 'odd' }] },
      /lacks the scope a\.read /,
    ],
    ['not at all', { message: 'You shall not.' }, /lacks permission in HubSpot \(403\): You shall not\./],
    ['with nothing', {}, /lacks permission in HubSpot \(403\)/],
  ])('%s', async (_, body, message) => {
    await using portal = await scriptedPortal(() => ({ status: 403, body }));
    await expect(portal.target.open({ create: true }, never())).rejects.toMatchObject({
      code: 'target.forbidden',
      message: expect.stringMatching(message),
    });
  });
});

test('a key that may only read: what is written is held and names the scope, and nothing is sent twice', async () => {
  const scopes = ['crm.objects.companies.read', 'crm.schemas.companies.read', 'tickets'];
  await using harness = await makeHubSpotHarness({ scopes });
  harness.edit(() => table);
  const target = harness.target();
  expect(await readAll(target)).toHaveLength(3);
  const outcomes = await target.write(changes, never());
  expect(outcomes).toMatchObject(
    changes.map(({ key }) => ({
      key,
      status: 'held',
      code: 'target.forbidden',
      message: expect.stringMatching(
        /(?:was not changed|No company was created)\. .*lacks the scope crm\.objects\.companies\.write/,
      ),
    })),
  );
  expect(harness.show()).toEqual(table);
  expect(harness.sandbox.requests.filter(({ status }) => status === 403)).toHaveLength(1);
});

test('a token that HubSpot does not know, and one that no header can carry', async () => {
  await using harness = await makeHubSpotHarness();
  harness.edit(() => [headings, anna]);
  const target = harness.target({ accessToken: new Secret('pat-other') });
  await expect(readAll(target)).rejects.toMatchObject({ code: 'target.unauthenticated', retry: 'never' });
  expect(() => harness.target({ accessToken: new Secret('pat ü') })).toThrow(/access token/);
  expect(() => harness.target({ apiUrl: 'http://api.hubapi.com' })).toThrow(/not encrypted/);
});

test('nothing listens: nothing was sent', async () => {
  const harness = await makeHubSpotHarness();
  const target = harness.target();
  await harness.sandbox.close();
  const writing = target.write([append('id-n', {})], never());
  await expect(writing).rejects.toMatchObject({ code: 'target.unavailable', retry: 'now' });
  expect(target.requests).toBe(0);
  await harness[Symbol.asyncDispose]();
  await expect(target.open({ create: true }, never())).rejects.toMatchObject({ code: 'target.closed' });
});

test('a silent service is given up when the caller gives up, and the next request is not behind it', async () => {
  await using harness = await makeHubSpotHarness();
  harness.edit(() => [headings, anna]);
  const target = harness.target();
  const controller = new AbortController();
  harness.sandbox.before = () => {
    setImmediate(() => controller.abort(new Error('enough')));
    return { kind: 'hang' };
  };
  await expect(target.open({ create: true }, controller.signal)).rejects.toThrow('enough');
  harness.sandbox.before = null;
  expect(await readAll(target)).toHaveLength(1);
});
