import { describe, expect, test } from 'vitest';
import { startSandbox } from '../../../src/demo/sandbox.ts';
import { firstId, page, post, send } from './sandbox-client.ts';

describe('what a lead shows', () => {
  test.each([
    [{ nullFollowUp: 'null' } as const, { nextFollowUpAt: null }],
    [{ nullFollowUp: 'absent' } as const, {}],
  ])('no follow-up: %j', async (options, shown) => {
    await using sandbox = await startSandbox({ ...options, leads: 0 });
    const { id } = sandbox.leads.add({ companyName: 'A' });
    const lead = { id, companyName: 'A', segment: '', city: '', region: '', stage: '', ...shown };
    expect((await send(sandbox, `/v1/leads/${id}`)).json).toEqual(lead);
    expect((await page(sandbox)).items).toEqual([lead]);
  });

  test.each([
    ['millis', '2026-10-05T09:00:00.250Z'],
    ['seconds', '2026-10-05T09:00:00Z'],
  ] as const)('follow-up in %s', async (followUpFormat, shown) => {
    await using sandbox = await startSandbox({ followUpFormat, leads: 0 });
    const { id } = sandbox.leads.add({ nextFollowUpAt: '2026-10-05T09:00:00.250Z' });
    expect((await send(sandbox, `/v1/leads/${id}`)).json).toMatchObject({ nextFollowUpAt: shown });
  });

  test('fields beyond the seven', async () => {
    await using sandbox = await startSandbox({ leads: 1 });
    const path = `/v1/leads/${firstId(sandbox)}`;
    const body = { employees: 12, notes: 'call back' };
    expect((await send(sandbox, path, { method: 'PATCH', body })).json).not.toHaveProperty('notes');
    expect((await send(sandbox, path)).json).not.toHaveProperty('employees');
    sandbox.set({ extraFields: true });
    expect((await send(sandbox, path)).json).toMatchObject({ ownerEmail: expect.stringContaining('@') });
    expect((await send(sandbox, path, { method: 'PATCH', body })).json).toMatchObject(body);
    expect((await send(sandbox, path, { method: 'PATCH', body: { employees: '12' } })).status).toBe(422);
  });
});

describe('replies to writes', () => {
  test.each([
    ['lead', 201, { companyName: 'Neu GmbH' }, false],
    ['wrapped', 200, { lead: { companyName: 'Neu GmbH' } }, false],
    ['location', 201, undefined, true],
    ['nothing', 201, undefined, false],
    ['lead', 204, undefined, false],
  ] as const)('create: %s with %i', async (createReply, createStatus, json, hasLocation) => {
    await using sandbox = await startSandbox({ leads: 0, createReply, createStatus });
    const reply = await send(sandbox, '/v1/leads', post);
    expect(reply.status).toBe(createStatus);
    if (json === undefined) expect(reply.text).toBe('');
    else expect(reply.json).toMatchObject(json);
    const location = hasLocation ? `/v1/leads/${firstId(sandbox)}` : null;
    expect(reply.headers.get('location')).toBe(location);
    expect(sandbox.leads.list()).toMatchObject([{ companyName: 'Neu GmbH' }]);
  });

  test.each([
    ['lead', 200, { city: 'Bonn' }],
    ['wrapped', 200, { data: { city: 'Bonn' } }],
    ['nothing-204', 204, undefined],
  ] as const)('update: %s', async (updateReply, status, json) => {
    await using sandbox = await startSandbox({ leads: 1, updateReply });
    const path = `/v1/leads/${firstId(sandbox)}`;
    const reply = await send(sandbox, path, { method: 'PATCH', body: { city: 'Bonn' } });
    expect(reply.status).toBe(status);
    if (json === undefined) expect(reply.text).toBe('');
    else expect(reply.json).toMatchObject(json);
    expect(sandbox.leads.list()).toMatchObject([{ city: 'Bonn' }]);
  });

  test('get wrapped, delete with 200', async () => {
    await using sandbox = await startSandbox({ leads: 1, getReply: 'wrapped', deleteStatus: 200 });
    const id = firstId(sandbox);
    expect((await send(sandbox, `/v1/leads/${id}`)).json).toMatchObject({ result: { id } });
    expect((await send(sandbox, `/v1/leads/${id}`, { method: 'DELETE' })).status).toBe(200);
    expect(sandbox.leads.size).toBe(0);
  });

  test.each([
    ['flat', { code: 'lead.notFound' }, ''],
    ['nested', { error: { code: 'lead.notFound' } }, ''],
    ['array', { errors: [{ code: 'lead.notFound' }] }, ''],
    ['text', undefined, 'There is no lead x.'],
    ['empty', undefined, ''],
  ] as const)('errors: %s', async (errorShape, json, text) => {
    await using sandbox = await startSandbox({ leads: 0, errorShape });
    const reply = await send(sandbox, '/v1/leads/x');
    expect(reply.status).toBe(404);
    if (json === undefined) expect([reply.json, reply.text]).toEqual([undefined, text]);
    else expect(reply.json).toMatchObject(json);
  });
});

describe('rules for values', () => {
  test('ignored fields, trimmed text, an id in the body', async () => {
    await using sandbox = await startSandbox({ leads: 1, ignoredFields: ['city'], trimText: true });
    const before = sandbox.leads.list()[0];
    const body = { id: 'mine', city: 'Nowhere', segment: ' Retail ' };
    const reply = await send(sandbox, `/v1/leads/${before?.id}`, { method: 'PATCH', body });
    expect(reply.json).toMatchObject({ id: before?.id, city: before?.city, segment: 'Retail' });
    sandbox.set({ extraFields: true });
    const created = await send(sandbox, '/v1/leads', { method: 'POST', body: { ...body, companyName: 'A' } });
    expect(created.json).toMatchObject({ id: expect.not.stringMatching('mine') });
  });

  test('text is kept as it was sent, null is empty text', async () => {
    await using sandbox = await startSandbox({ leads: 1 });
    const body = { city: ' a\r\nb ', segment: null };
    const reply = await send(sandbox, `/v1/leads/${firstId(sandbox)}`, { method: 'PATCH', body });
    expect(reply.json).toMatchObject({ city: ' a\r\nb ', segment: '' });
  });

  test('allowed stages and segments', async () => {
    await using sandbox = await startSandbox({ leads: 0, stages: ['new', 'won'], segments: ['Retail'] });
    const sent = (fields: object) =>
      send(sandbox, '/v1/leads', { method: 'POST', body: { companyName: 'A', ...fields } });
    expect((await sent({ stage: 'unknown' })).status).toBe(422);
    expect((await sent({ stage: 'won', segment: 'unknown' })).status).toBe(422);
    expect((await sent({ stage: 'won', segment: 'Retail' })).status).toBe(201);
    expect((await sent({})).json).toMatchObject({ stage: 'new', segment: '' });
    const path = `/v1/leads/${firstId(sandbox)}`;
    expect((await send(sandbox, path, { method: 'PATCH', body: { stage: '' } })).status).toBe(422);
    sandbox.set({ stages: undefined });
    expect((await sent({ stage: 'unknown' })).status).toBe(201);
  });

  test('required fields', async () => {
    await using sandbox = await startSandbox({ leads: 0, requiredFields: ['companyName', 'city'] });
    expect((await send(sandbox, '/v1/leads', post)).status).toBe(422);
    const body = { companyName: 'A', city: 'Bonn' };
    expect((await send(sandbox, '/v1/leads', { method: 'POST', body })).status).toBe(201);
    const path = `/v1/leads/${firstId(sandbox)}`;
    expect((await send(sandbox, path, { method: 'PATCH', body: { stage: 'won' } })).status).toBe(200);
    expect((await send(sandbox, path, { method: 'PATCH', body: { city: '' } })).status).toBe(422);
  });

  test('new ids are time-ordered, or of another kind', async () => {
    await using sandbox = await startSandbox({ leads: 5 });
    const startedAt = Date.now();
    await send(sandbox, '/v1/leads', post);
    const id = sandbox.leads.list().at(-1)?.id ?? '';
    expect(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toBeGreaterThanOrEqual(startedAt);
    await using other = await startSandbox({ leads: 1, idKind: 'other' });
    await send(other, '/v1/leads', post);
    expect(other.leads.list().map((lead) => lead.id[14])).toEqual(['4', '4']);
  });
});
