import { describe, expect, test } from 'vitest';
import { Secret } from '../../src/config/secret.ts';
import { LeadsClient } from '../../src/leads-api/leads-client.ts';
import type { SandboxOptions } from '../../src/demo/options.ts';
import { parseFaults } from '../../src/demo/faults.ts';
import { type Sandbox, startSandbox } from '../../src/demo/sandbox.ts';
import { never } from '../integration/leads-api/leads-api-server.ts';
import { MemoryThrottle } from '../support/memory-throttle.ts';
import { describeLeadsPort, type LeadsServiceHarness } from './leads-port.ts';

/** Services that answer the open points of the API reference differently (docs/architecture.md 3). */
const services: Record<string, Partial<SandboxOptions>> = {
  'a plain service': {},
  'a service that says as little as it can': {
    createReply: 'nothing',
    createStatus: 204,
    updateReply: 'nothing-204',
    errorShape: 'empty',
    nullFollowUp: 'absent',
    order: 'random',
    idKind: 'other',
    maxLimit: 25,
  },
  'a service that wraps everything': {
    createReply: 'wrapped',
    createStatus: 200,
    getReply: 'wrapped',
    updateReply: 'wrapped',
    deleteStatus: 200,
    errorShape: 'nested',
    followUpFormat: 'seconds',
    extraFields: true,
    rejectLimit: true,
    invalidStatus: 400,
  },
  'a service that answers with Location and repeats items': {
    createReply: 'location',
    errorShape: 'array',
    repeatItems: 4,
    defaultLimit: 6,
  },
};

for (const [name, options] of Object.entries(services)) {
  describeLeadsPort(name, async () => harness(await startSandbox({ leads: 60, ...options })));
}

function harness(sandbox: Sandbox): LeadsServiceHarness {
  return {
    baseUrl: sandbox.url,
    apiKey: sandbox.apiKey,
    ids: () => sandbox.leads.list().map((lead) => lead.id),
    limitRate: (every, seconds) =>
      sandbox.set({ faults: parseFaults(`429:every=${every},retryAfter=${seconds}`) }),
    counts: () => sandbox.stats,
    [Symbol.asyncDispose]: () => sandbox.close(),
  };
}

function connect(sandbox: Sandbox) {
  return new LeadsClient({
    baseUrl: sandbox.url,
    apiKey: new Secret(sandbox.apiKey),
    query: {},
    throttle: new MemoryThrottle(),
  });
}

describe('leads port under faults', () => {
  test.each([
    ['500', 'leads.unavailable', 0],
    ['reset', 'leads.unavailable', 0],
    ['lost-reply', 'leads.unavailable', 1],
    ['error-after-write', 'leads.unavailable', 1],
    ['unfinished', 'leads.unavailable', 1],
    ['not-json', 'leads.not-json', 1],
    ['maintenance', 'leads.not-json', 0],
    ['revoked', 'leads.unauthenticated', 0],
    ['429:retryAfter=30', 'leads.rate-limited', 0],
    ['429:retryAfter=date+30', 'leads.rate-limited', 0],
    ['429:retryAfter=none', 'leads.rate-limited', 0],
    ['429:retryAfter=garbage', 'leads.rate-limited', 0],
    ['302', 'leads.redirected', 0],
    ['422', 'leads.rejected', 0],
  ])('a create with %s is one request and %s', async (faults, code, created) => {
    await using sandbox = await startSandbox({ leads: 3, faults: parseFaults(faults) });
    await using leads = connect(sandbox);
    await expect(leads.create({ companyName: 'Neu GmbH' }, never)).rejects.toMatchObject({ code });
    expect(sandbox.stats.requests).toBe(1);
    expect(sandbox.leads.size).toBe(3 + created);
  });

  test('a create whose reply is some other text is done, and its reply shows nothing', async () => {
    await using sandbox = await startSandbox({ leads: 3, faults: parseFaults('huge') });
    await using leads = connect(sandbox);
    expect(await leads.create({ companyName: 'Neu GmbH' }, never)).toBeNull();
    expect(sandbox.leads.size).toBe(4);
  });

  test.each([
    ['not-json', 'leads.not-json'],
    ['huge', 'leads.not-json'],
    ['unfinished', 'leads.unavailable'],
    ['reset', 'leads.unavailable'],
  ])('a page with %s is %s', async (faults, code) => {
    await using sandbox = await startSandbox({ leads: 3, faults: parseFaults(faults) });
    await using leads = connect(sandbox);
    const call = leads.list({ cursor: null, limit: 10 }, never);
    await expect(call).rejects.toMatchObject({ code, retry: 'now' });
    expect(sandbox.stats.requests).toBe(1);
  });

  test('a key with leads:read alone lists and is forbidden to write', async () => {
    await using sandbox = await startSandbox({ leads: 3, permissions: ['leads:read'] });
    await using leads = connect(sandbox);
    const page = await leads.list({ cursor: null, limit: null }, never);
    expect(page.leads).toHaveLength(3);
    const id = page.leads[0]?.id ?? '';
    const forbidden = { code: 'leads.forbidden', retry: 'never', status: 403, apiCode: 'auth.forbidden' };
    await expect(leads.create({ companyName: 'A' }, never)).rejects.toMatchObject(forbidden);
    await expect(leads.update(id, { city: 'A' }, never)).rejects.toMatchObject(forbidden);
    await expect(leads.delete(id, never)).rejects.toMatchObject(forbidden);
  });

  test('a cursor that has expired is leads.rejected', async () => {
    await using sandbox = await startSandbox({ leads: 30, faults: parseFaults('expired-cursor') });
    await using leads = connect(sandbox);
    const { nextCursor } = await leads.list({ cursor: null, limit: 10 }, never);
    const call = leads.list({ cursor: nextCursor, limit: 10 }, never);
    await expect(call).rejects.toMatchObject({ code: 'leads.rejected', status: 400 });
  });
});
