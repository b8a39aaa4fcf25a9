import { describe, expect, test } from 'vitest';
import { companies, companiesOf, openScene, properties, type Scene } from './hubspot-sandbox-scene.ts';

/** What is kept of a value that is written, or the code with which it is refused. */
async function write(scene: Scene, name: string, value: unknown): Promise<unknown> {
  const answer = await scene.post(`${companies}/batch/create`, {
    inputs: [{ properties: { [name]: value } }],
  });
  if (answer.status === 201) return companiesOf(answer)[0]?.properties[name];
  expect(answer).toMatchObject({ status: 400, body: { errors: [{ context: { propertyName: [name] } }] } });
  const { errors } = answer.body as { errors: { code: string }[] };
  return errors[0]?.code;
}

describe('values', () => {
  test.each([
    ['name', '  A ', '  A '],
    ['name', '', null],
    ['numberofemployees', '12', '12'],
    ['numberofemployees', 'twelve', 'INVALID_NUMBER'],
    ['lead_stage', 'won', 'won'],
    ['lead_stage', 'Won', 'INVALID_OPTION'],
    ['lead_sync', 'true', 'true'],
    ['lead_sync', 'yes', 'INVALID_OPTION'],
    ['tags', 'a;b', 'a;b'],
    ['tags', 'a;c', 'INVALID_OPTION'],
    ['lead_due', '2026-11-21T10:20:30.4567+01:00', '2026-11-21T09:20:30.456Z'],
    ['lead_due', '1795262400000', '2026-11-21T12:00:00.000Z'],
    ['lead_due', '2026-11-21', 'INVALID_LONG'],
    ['lead_due', '2026-11-21T10:20:30', 'INVALID_LONG'],
    ['lead_due', '2026-02-30T10:20:30Z', 'INVALID_LONG'],
    ['day', '2026-11-21', '2026-11-21'],
    ['day', '1795219200000', '2026-11-21'],
    ['day', '1795219200001', 'INVALID_DATE'],
    ['day', '2026-11-21T00:00:00Z', 'INVALID_DATE'],
    ['day', '2026-02-30', 'INVALID_DATE'],
    ['createdate', '2026-11-21T00:00:00Z', 'READ_ONLY_VALUE'],
    ['score', '1', 'READ_ONLY_VALUE'],
  ])('%s takes %s as %s', async (name, value, kept) => {
    await using scene = await openScene();
    const { person } = scene.sandbox;
    person.addProperty({ name: 'lead_sync', type: 'bool', fieldType: 'booleancheckbox' });
    person.addProperty({ name: 'day', type: 'date', fieldType: 'date' });
    person.addProperty({
      name: 'score',
      type: 'number',
      fieldType: 'calculation_equation',
      calculated: true,
    });
    person.addProperty({ name: 'tags', type: 'enumeration', fieldType: 'checkbox', options: ['a', 'b'] });
    expect(await write(scene, name, value)).toBe(kept);
  });

  test('a string has 65,536 characters at most', async () => {
    await using scene = await openScene();
    const longest = 'x'.repeat(65_536);
    expect(await write(scene, 'name', longest)).toBe(longest);
    expect(await write(scene, 'name', `${longest}x`)).toBe('VALUE_TOO_LONG');
  });

  test('strings are trimmed when it is asked so; what is no string is refused', async () => {
    await using scene = await openScene({ trim: true });
    expect(await write(scene, 'name', ' A ')).toBe('A');
    for (const value of [1, true, null]) {
      const inputs = [{ properties: { name: value } }];
      expect((await scene.post(`${companies}/batch/create`, { inputs })).status).toBe(400);
    }
  });

  test('a unique value is had by one company, also within a batch', async () => {
    await using scene = await openScene();
    const { person } = scene.sandbox;
    const first = person.create({ lead_id: 'L1' });
    expect(await write(scene, 'lead_id', 'L1')).toBe('CONFLICTING_UNIQUE_VALUE');
    const inputs = ['1', '2'].map((trace) => ({ properties: { lead_id: 'L2' }, objectWriteTraceId: trace }));
    expect(await scene.post(`${companies}/batch/create`, { inputs })).toMatchObject({
      status: 207,
      body: { results: [{}], errors: [{ context: { objectWriteTraceId: ['2'] } }] },
    });
    person.edit(first, { lead_id: 'L3' });
    expect(await write(scene, 'lead_id', 'L1')).toBe('L1');
    expect(() => person.edit(first, { lead_id: 'L2' })).toThrow('already has the value');
  });

  test("the portal's rules hold for the API, with their words", async () => {
    await using scene = await openScene();
    const { person } = scene.sandbox;
    person.addRule('city', (value) => value !== 'Atlantis', 'No sunken cities.');
    expect(await write(scene, 'city', 'Bonn')).toBe('Bonn');
    expect(await write(scene, 'city', 'Atlantis')).toBe('FAILED_VALIDATION_RULE');
    expect(() => person.create({ city: 'Atlantis' })).not.toThrow();
  });
});

describe('properties', () => {
  const given = { name: 'mood', label: 'Mood', type: 'string', fieldType: 'text', groupName: 'leadsync' };

  test('groups and properties are made once', async () => {
    await using scene = await openScene();
    expect((await scene.post(properties, given)).status).toBe(400);
    const group = { name: 'leadsync', label: 'leadsync' };
    expect((await scene.post(`${properties}/groups`, group)).status).toBe(201);
    expect(await scene.post(`${properties}/groups`, group)).toMatchObject({
      status: 409,
      body: { category: 'OBJECT_ALREADY_EXISTS' },
    });
    expect((await scene.get(`${properties}/groups`)).body).toMatchObject({
      results: expect.arrayContaining([expect.objectContaining(group)]),
    });
    expect((await scene.post(properties, given)).status).toBe(201);
    expect(await scene.post(properties, given)).toMatchObject({
      status: 409,
      body: { category: 'OBJECT_ALREADY_EXISTS', subCategory: 'Properties.PROPERTY_WITH_NAME_EXISTS' },
    });
    expect((await scene.get(properties)).body).toMatchObject({
      results: expect.arrayContaining([
        expect.objectContaining({ ...given, hasUniqueValue: false, calculated: false }),
        expect.objectContaining({
          name: 'createdate',
          modificationMetadata: expect.objectContaining({ readOnlyValue: true }),
        }),
      ]),
    });
  });

  test('one that is archived comes back as it was, with its values', async () => {
    await using scene = await openScene();
    const { person } = scene.sandbox;
    const id = person.create({ lead_stage: 'won' });
    person.archiveProperty('lead_stage');
    expect((await scene.get(`${properties}/lead_stage`)).status).toBe(404);
    expect(person.companies()[0]?.properties).not.toHaveProperty('lead_stage');
    expect(await write(scene, 'lead_stage', 'won')).toBe('PROPERTY_DOESNT_EXIST');
    const again = { ...given, name: 'lead_stage' };
    expect(await scene.post(properties, again)).toMatchObject({ status: 201, body: { type: 'enumeration' } });
    expect(await scene.all('properties=lead_stage')).toMatchObject([
      { id, properties: { lead_stage: 'won' } },
    ]);
  });

  test('PATCH replaces the whole list of options and changes no type', async () => {
    await using scene = await openScene();
    const options = ['new', 'lost'].map((value) => ({ label: value, value }));
    expect(await scene.patch(`${properties}/lead_stage`, { options })).toMatchObject({
      status: 200,
      body: { options: [{ value: 'new' }, { value: 'lost' }] },
    });
    expect(await write(scene, 'lead_stage', 'lost')).toBe('lost');
    expect(await write(scene, 'lead_stage', 'won')).toBe('INVALID_OPTION');
    for (const change of [{ type: 'string' }, { hasUniqueValue: true }, { options: [] }]) {
      expect((await scene.patch(`${properties}/lead_stage`, change)).status).toBe(400);
    }
  });

  test.each([
    { fieldType: 'date' },
    { type: 'text' },
    { name: 'Mood' },
    { label: undefined },
    { type: 'bool', fieldType: 'booleancheckbox' },
    { type: 'enumeration', fieldType: 'select', options: [] },
    { surprise: 1 },
  ])('refuses a definition with %o', async (change) => {
    await using scene = await openScene();
    const definition = { ...given, groupName: 'companyinformation', ...change };
    expect((await scene.post(properties, definition)).status).toBe(400);
  });

  test('ten are unique at most', async () => {
    await using scene = await openScene();
    const statuses: number[] = [];
    for (let n = 1; n <= 10; n++) {
      const one = { ...given, name: `u${n}`, groupName: 'companyinformation', hasUniqueValue: true };
      statuses.push((await scene.post(properties, one)).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 9 }, () => 201), 400]);
  });
});
