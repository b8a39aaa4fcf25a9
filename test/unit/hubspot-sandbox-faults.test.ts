import { describe, expect, test } from 'vitest';
import { startHubSpotSandbox } from '../stand-ins/hubspot/hubspot-sandbox.ts';
import { companies, companiesOf, openScene } from './hubspot-sandbox-scene.ts';

const someTime = Date.UTC(2026, 10, 21, 22, 59, 0);

function clockAt(epochMs: number) {
  let now = epochMs;
  return {
    now: () => now,
    random: () => 0.5,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

describe('limits', () => {
  test('of ten seconds: headers count down, then 429 until a place is free again', async () => {
    const clock = clockAt(someTime);
    await using scene = await openScene({ clock, limits: { tenSeconds: 2, daily: 1000 } });
    expect((await scene.get(companies)).headers.get('x-hubspot-ratelimit-remaining')).toBe('1');
    clock.pass(4000);
    const { headers } = await scene.get(companies);
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-hubspot-ratelimit-max': '2',
      'x-hubspot-ratelimit-remaining': '0',
      'x-hubspot-ratelimit-interval-milliseconds': '10000',
      'x-hubspot-ratelimit-daily': '1000',
      'x-hubspot-ratelimit-daily-remaining': '998',
    });
    expect(await scene.get(companies)).toMatchObject({
      status: 429,
      body: {
        status: 'error',
        errorType: 'RATE_LIMIT',
        policyName: 'TEN_SECONDLY_ROLLING',
        message: 'You have reached your ten_secondly_rolling limit.',
      },
    });
    clock.pass(6000);
    expect((await scene.get(companies)).status).toBe(200);
    expect((await scene.get(companies)).status).toBe(429);
  });

  test("of a day: until the portal's midnight", async () => {
    const clock = clockAt(someTime);
    await using scene = await openScene({
      clock,
      timeZone: 'Europe/Berlin',
      limits: { tenSeconds: 100, daily: 1 },
    });
    await scene.get(companies);
    expect(await scene.get(companies)).toMatchObject({ status: 429, body: { policyName: 'DAILY' } });
    clock.pass(60_000);
    expect((await scene.get(companies)).status).toBe(200);
  });

  test('searches: five a second, without headers', async () => {
    const clock = clockAt(someTime);
    await using scene = await openScene({ clock, limits: { tenSeconds: 1, daily: 1000 } });
    for (let n = 0; n < 5; n++) {
      const { status, headers } = await scene.post(`${companies}/search`, {});
      expect([status, headers.has('x-hubspot-ratelimit-remaining')]).toEqual([200, false]);
    }
    expect(await scene.post(`${companies}/search`, {})).toMatchObject({ body: { policyName: 'SECONDLY' } });
  });
});

describe('faults', () => {
  const write = { inputs: [{ properties: { name: 'A' } }] };
  const create = `${companies}/batch/create`;

  test.each([
    [{ status: 429, retryAfter: '7' } as const, 429, 'RATE_LIMIT'],
    [{ status: 401 } as const, 401, 'INVALID_AUTHENTICATION'],
    [{ status: 403 } as const, 403, 'MISSING_SCOPES'],
    [{ status: 404 } as const, 404, 'OBJECT_NOT_FOUND'],
    [{ status: 423 } as const, 423, 'INTERNAL_ERROR'],
    [{ status: 477, retryAfter: '7' } as const, 477, 'INTERNAL_ERROR'],
    [{ status: 524 } as const, 524, 'INTERNAL_ERROR'],
  ])('%o is answered, and nothing done', async (fault, status, reason) => {
    await using scene = await openScene();
    scene.sandbox.before = () => fault;
    const answer = await scene.post(create, write);
    expect(answer).toMatchObject({ status, body: { status: 'error', correlationId: expect.any(String) } });
    expect(JSON.stringify(answer.body)).toContain(reason);
    expect(answer.headers.get('retry-after')).toBe('retryAfter' in fault ? '7' : null);
    expect(scene.sandbox.person.companies()).toEqual([]);
    expect(scene.sandbox.requests).toEqual([
      { kind: 'create', method: 'POST', path: create, inputs: 1, status },
    ]);
  });

  test.each([
    ['reset', 0],
    ['html', 0],
    ['reset-after', 1],
    ['not-json', 1],
    ['short', 1],
  ] as const)('%s gives no JSON; %i companies are made', async (kind, made) => {
    await using scene = await openScene();
    scene.sandbox.before = () => ({ kind });
    await expect(scene.post(create, write)).rejects.toThrow();
    expect(scene.sandbox.person.companies()).toHaveLength(made);
    scene.sandbox.before = null;
    expect((await scene.post(create, write)).status).toBe(201);
  });

  test('a gateway may give up after it was carried out', async () => {
    await using scene = await openScene();
    scene.sandbox.before = () => ({ status: 504, after: true });
    expect((await scene.post(create, write)).status).toBe(504);
    expect(scene.sandbox.person.companies()).toHaveLength(1);
  });

  test('one that stays silent ends with its client or the stand-in', async () => {
    const scene = await openScene();
    const asked = Promise.withResolvers<void>();
    scene.sandbox.before = () => {
      asked.resolve();
      return { kind: 'hang' };
    };
    const closed = asked.promise.then(() => scene.sandbox.close());
    await expect(scene.get(companies)).rejects.toThrow('fetch failed');
    await closed;
  });

  test('before is told what comes; what it does is seen by the request', async () => {
    await using scene = await openScene();
    const seen: unknown[] = [];
    scene.sandbox.before = (request) => {
      seen.push(request);
      scene.sandbox.person.create({ name: 'Meanwhile' });
    };
    expect(companiesOf(await scene.get(`${companies}?archived=false`))).toHaveLength(1);
    await scene.get(`${companies}?archived=true`);
    expect(seen).toEqual([
      { kind: 'list', method: 'GET', n: 1 },
      { kind: 'archived-list', method: 'GET', n: 2 },
    ]);
  });
});

describe('access', () => {
  test('another token gets 401, a missing scope 403, an unknown path 404', async () => {
    await using sandbox = await startHubSpotSandbox({
      token: 'right',
      scopes: ['crm.objects.companies.read'],
    });
    const send = async (method: string, path: string, token: string): Promise<[number, unknown]> => {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(sandbox.url + path, { method, headers });
      return [response.status, await response.json()];
    };
    expect(await send('GET', companies, 'wrong')).toMatchObject([
      401,
      { category: 'INVALID_AUTHENTICATION' },
    ]);
    expect(await send('POST', `${companies}/batch/create`, 'right')).toMatchObject([
      403,
      {
        category: 'MISSING_SCOPES',
        errors: [{ context: { requiredGranularScopes: ['crm.objects.companies.write'] } }],
      },
    ]);
    expect(await send('GET', companies, 'right')).toMatchObject([200, { results: [] }]);
    for (const path of ['/crm/v3/objects/companies', `${companies}/1/2`, '/']) {
      expect(await send('GET', path, 'right')).toMatchObject([404, { status: 'error' }]);
    }
    expect((await send('POST', `${companies}/batch/read`, 'right'))[0]).toBe(400);
  });
});

describe('search', () => {
  test('sees the companies as they were some time ago, and no archived ones', async () => {
    const clock = clockAt(someTime);
    await using scene = await openScene({ clock, searchLagMs: 5000 });
    const { person } = scene.sandbox;
    const names = async (filters: object[] = []): Promise<unknown> => {
      const body = { filterGroups: [{ filters }], properties: ['name'], limit: 200 };
      return companiesOf(await scene.post(`${companies}/search`, body)).map(
        ({ properties }) => properties['name'],
      );
    };
    const id = person.create({ name: 'A', numberofemployees: '9' });
    expect(await names()).toEqual([]);
    clock.pass(5000);
    person.edit(id, { name: 'B' });
    person.create({ name: 'C', numberofemployees: '10' });
    expect(await names()).toEqual(['A']);
    clock.pass(5000);
    expect(await names()).toEqual(['B', 'C']);
    expect(await names([{ propertyName: 'numberofemployees', operator: 'GT', value: '9' }])).toEqual(['C']);
    person.archive(id);
    clock.pass(5000);
    expect(await names()).toEqual(['C']);
  });
});

describe('merge', () => {
  test('makes a new company, to which the old ids lead', async () => {
    await using scene = await openScene();
    const { person } = scene.sandbox;
    const winner = person.create({ name: 'A', lead_id: 'L1' });
    const loser = person.create({ name: 'B', city: 'Bonn', lead_id: 'L2' });
    const merged = person.merge(winner, loser);
    expect(person.companies()).toMatchObject([
      { id: merged, properties: { name: 'A', city: 'Bonn', lead_id: 'L1', hs_object_id: merged } },
    ]);
    const body = { properties: ['lead_id'], inputs: [{ id: loser }] };
    expect(companiesOf(await scene.post(`${companies}/batch/read`, body))).toMatchObject([{ id: merged }]);
    expect(await scene.all('archived=true')).toEqual([]);
    const byLead = { idProperty: 'lead_id', properties: [], inputs: [{ id: 'L2' }] };
    expect(await scene.post(`${companies}/batch/read`, byLead)).toMatchObject({ body: { numErrors: 1 } });
    const twice = [winner, loser].map((id) => ({ id, properties: { name: 'X' } }));
    expect((await scene.post(`${companies}/batch/update`, { inputs: twice })).status).toBe(400);
  });

  test('or lets the winner go on; what was merged away may be in the recycle bin', async () => {
    await using scene = await openScene({ merge: 'primary', mergedInBin: true });
    const { person } = scene.sandbox;
    const [winner, loser] = [person.create({ name: 'A' }), person.create({ name: 'B', lead_id: 'L2' })];
    const body = { primaryObjectId: winner, objectIdToMerge: loser };
    expect(await scene.post(`${companies}/merge`, body)).toMatchObject({ status: 200, body: { id: winner } });
    expect(person.companies()).toMatchObject([{ id: winner, properties: { name: 'A', lead_id: 'L2' } }]);
    expect(await scene.all('archived=true')).toMatchObject([{ id: loser }]);
    expect((await scene.post(`${companies}/merge`, { ...body, objectIdToMerge: winner })).status).toBe(400);
  });
});
