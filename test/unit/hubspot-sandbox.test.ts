import { describe, expect, test } from 'vitest';
import { companies, companiesOf, openScene } from './hubspot-sandbox-scene.ts';

const batch = `${companies}/batch`;
const upsertOf = (id: string, properties: Record<string, string>, objectWriteTraceId?: string) => ({
  idProperty: 'lead_id',
  id,
  properties,
  ...(objectWriteTraceId !== undefined && { objectWriteTraceId }),
});

describe('list', () => {
  test('gives every company once, ten a page unless asked, in the order of the ids', async () => {
    await using scene = await openScene();
    const ids = Array.from({ length: 25 }, (_, index) => scene.sandbox.person.create({ name: `N${index}` }));
    expect(companiesOf(await scene.get(companies))).toHaveLength(10);
    expect((await scene.all('limit=7')).map(({ id }) => id)).toEqual(ids);
    expect((await scene.get(`${companies}?limit=25`)).body).not.toHaveProperty('paging');
    expect(Number(ids[0])).toBeGreaterThan(2 ** 31);
  });

  test.each(['limit=101', 'limit=0', 'after=nonsense', 'archived=maybe', 'page=2'])(
    'refuses %s',
    async (query) => {
      await using scene = await openScene();
      expect(await scene.get(`${companies}?${query}`)).toMatchObject({
        status: 400,
        body: { status: 'error', category: 'VALIDATION_ERROR', correlationId: expect.any(String) },
      });
    },
  );

  test('shows null for what is not filled and nothing of what it does not know', async () => {
    await using scene = await openScene();
    scene.sandbox.person.create({ name: 'Acme' });
    const [company] = await scene.all('properties=name,city,no_such,lifecyclestage');
    expect(company?.properties).toEqual({
      name: 'Acme',
      city: null,
      lifecyclestage: 'lead',
      createdate: expect.any(String),
      hs_lastmodifieddate: expect.any(String),
      hs_object_id: company?.id,
    });
  });

  test('keeps the recycle bin apart', async () => {
    await using scene = await openScene();
    const { person } = scene.sandbox;
    const [kept, gone] = [person.create({ name: 'A' }), person.create({ name: 'B', lead_id: 'L1' })];
    expect((await scene.post(`${batch}/archive`, { inputs: [{ id: gone }, { id: '1' }] })).status).toBe(204);
    expect((await scene.all('properties=lead_id')).map(({ id }) => id)).toEqual([kept]);
    const bin = await scene.all('archived=true&properties=lead_id');
    expect(bin).toMatchObject([{ id: gone, archived: true, properties: { lead_id: 'L1' } }]);
    person.restore(gone);
    expect(await scene.all('archived=true')).toEqual([]);
    expect(person.companies().map(({ id }) => id)).toEqual([kept, gone]);
    person.purge(gone);
    expect(await scene.all('')).toHaveLength(1);
    expect(scene.sandbox.requests.map(({ kind }) => kind)).toEqual([
      'archive',
      'list',
      'archived-list',
      'archived-list',
      'list',
    ]);
  });
});

describe('batch read', () => {
  test('finds by record id and by a unique property, and names what is missing', async () => {
    await using scene = await openScene({ order: 'input' });
    const id = scene.sandbox.person.create({ name: 'A', lead_id: 'L1' });
    const read = (body: object) => scene.post(`${batch}/read`, { properties: ['name'], ...body });
    expect(await read({ inputs: [{ id }] })).toMatchObject({
      status: 200,
      body: { status: 'COMPLETE', results: [{ id, properties: { name: 'A' } }] },
    });
    expect(
      await read({ idProperty: 'lead_id', inputs: [{ id: 'L1' }, { id: 'L2' }, { id: 'L3' }] }),
    ).toMatchObject({
      status: 207,
      body: {
        results: [{ id }],
        numErrors: 1,
        errors: [{ category: 'OBJECT_NOT_FOUND', context: { ids: ['L2', 'L3'] } }],
      },
    });
    expect((await read({ idProperty: 'name', inputs: [{ id: 'A' }] })).status).toBe(400);
    expect((await read({ inputs: [{ id }], more: 1 })).status).toBe(400);
  });

  test('a partly failed batch comes with 200 when it is asked so', async () => {
    await using scene = await openScene({ partial: '200' });
    const body = { properties: [], inputs: [{ id: '5' }] };
    expect(await scene.post(`${batch}/read`, body)).toMatchObject({ status: 200, body: { numErrors: 1 } });
  });
});

describe('batch write', () => {
  test('upsert makes what is not there and changes what is', async () => {
    await using scene = await openScene({ order: 'input' });
    const id = scene.sandbox.person.create({ name: 'A', city: 'Bonn', lead_id: 'L1' });
    const inputs = [upsertOf('L1', { name: 'B' }, 'x'), upsertOf('L2', { name: 'C' }, 'y')];
    expect(await scene.post(`${batch}/upsert`, { inputs })).toMatchObject({
      status: 200,
      body: {
        results: [
          { id, new: false, objectWriteTraceId: 'x', properties: { name: 'B' } },
          { new: true, objectWriteTraceId: 'y', properties: { name: 'C', lead_id: 'L2' } },
        ],
      },
    });
    expect(scene.sandbox.person.companies()).toMatchObject([
      { id, properties: { name: 'B', city: 'Bonn', lead_id: 'L1' } },
      { properties: { name: 'C', lead_id: 'L2', hs_object_source: 'INTEGRATION' } },
    ]);
  });

  test('upsert makes a second company beside an archived one', async () => {
    await using scene = await openScene();
    const { person } = scene.sandbox;
    const id = person.create({ lead_id: 'L1' });
    person.archive(id);
    const [company] = companiesOf(await scene.post(`${batch}/upsert`, { inputs: [upsertOf('L1', {})] }));
    expect(company?.id).not.toBe(id);
    expect(() => person.restore(id)).toThrow('already has the value L1');
  });

  test('update knows only what is there; create gives 201; both take 100 inputs at most', async () => {
    await using scene = await openScene({ order: 'input' });
    const created = await scene.post(`${batch}/create`, { inputs: [{ properties: { name: 'A' } }] });
    expect(created.status).toBe(201);
    const [company] = companiesOf(created);
    const id = company?.id ?? '';
    const update = (inputs: object[]) => scene.post(`${batch}/update`, { inputs });
    expect((await update([{ id, properties: { name: '' } }])).status).toBe(200);
    expect(await update([{ id: '7', properties: {} }])).toMatchObject({
      status: 404,
      body: { category: 'OBJECT_NOT_FOUND', context: { ids: ['7'] } },
    });
    expect(scene.sandbox.person.companies()).toMatchObject([{ properties: { name: null } }]);
    const many = Array.from({ length: 101 }, (_, index) => ({ id: `${index}`, properties: {} }));
    expect((await update(many)).status).toBe(400);
    expect((await update([])).status).toBe(400);
  });

  test('duplicate ids fail the whole batch', async () => {
    await using scene = await openScene();
    const inputs = [upsertOf('L1', {}, '1'), upsertOf('L2', {}, '2'), upsertOf('L1', {}, '3')];
    expect(await scene.post(`${batch}/upsert`, { inputs })).toMatchObject({
      status: 400,
      body: { message: 'Duplicate IDs found in batch input: [L1]. IDs must be unique' },
    });
    expect(scene.sandbox.person.companies()).toEqual([]);
  });

  test.each([
    ['with trace ids the good ones are written', ['1', '2'], true, 207],
    ['without them none', [undefined, undefined], true, 400],
    ['with the same one twice none', ['1', '1'], true, 400],
    ['with the option off none', ['1', '2'], false, 400],
  ])('%s', async (_, [first, second], traceIds, status) => {
    await using scene = await openScene({ traceIds });
    const inputs = [upsertOf('L1', { name: 'A' }, first), upsertOf('L2', { nam: 'B' }, second)];
    const answer = await scene.post(`${batch}/upsert`, { inputs });
    expect(answer.status).toBe(status);
    const fault = {
      category: 'VALIDATION_ERROR',
      errors: [{ code: 'PROPERTY_DOESNT_EXIST', context: { propertyName: ['nam'] } }],
    };
    if (status === 207) {
      expect(answer.body).toMatchObject({
        results: [{ properties: { lead_id: 'L1' } }],
        numErrors: 1,
        errors: [{ ...fault, context: { objectWriteTraceId: ['2'] } }],
      });
    } else {
      expect(answer.body).toMatchObject(fault);
    }
    expect(scene.sandbox.person.companies()).toHaveLength(status === 207 ? 1 : 0);
  });

  test('results come in no particular order', async () => {
    const draws = [0.9, 0.1, 0.5];
    await using scene = await openScene({
      clock: { now: () => Date.now(), random: () => draws.shift() ?? 0 },
    });
    const inputs = ['L1', 'L2', 'L3'].map((id) => upsertOf(id, {}));
    const results = companiesOf(await scene.post(`${batch}/upsert`, { inputs }));
    expect(results.map(({ properties }) => properties['lead_id'])).toEqual(['L2', 'L3', 'L1']);
  });
});
