import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { historiesReply } from '../src/targets/hubspot/hubspot-replies.ts';
import { asker, env, needed, said } from './ask.ts';

needed(
  'of a portal for tests, without companies: create a service key in HubSpot (Development, Keys, Service keys) with the scopes crm.objects.companies.read, crm.objects.companies.write, crm.schemas.companies.read, crm.schemas.companies.write and tickets',
  'HUBSPOT_TOKEN',
);
const apiUrl = (env['HUBSPOT_URL'] ?? 'https://api.hubapi.com').replace(/\/+$/, '');
const ask = asker(apiUrl, () => ({ authorization: `Bearer ${env['HUBSPOT_TOKEN']}` }));
const companies = '/crm/objects/2026-09/companies';
const definitions = '/crm/properties/2026-09/companies';
const merges = 'hs_merged_object_ids';

interface Company {
  readonly id: string;
  readonly properties: Readonly<Record<string, string | null | undefined>>;
}
async function post(path: string, body: object) {
  const { status, body: came } = await ask('POST', companies + path, body);
  const of = status < 300 ? came : {};
  return { status, results: said<Company[]>(of, 'results').flat(), errors: said(of, 'errors').flat() };
}
async function list(properties: readonly string[], archived = false): Promise<readonly Company[]> {
  const found: Company[] = [];
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page = `limit=100&archived=${archived}&properties=${properties.join()}${after && `&after=${after}`}`;
    const { body } = await ask('GET', `${companies}?${page}`);
    found.push(...said<Company[]>(body, 'results').flat());
    [after] = said<string>(said(body, 'paging'), 'after');
  }
  return found;
}
const archive = (...ids: string[]) => post('/batch/archive', { inputs: ids.map((id) => ({ id })) });

const kinds = {
  text: { type: 'string', fieldType: 'text' },
  datetime: { type: 'datetime', fieldType: 'date' },
  date: { type: 'date', fieldType: 'date' },
  number: { type: 'number', fieldType: 'number' },
  flag: { type: 'bool', fieldType: 'booleancheckbox', options: ['true', 'false'].map(option) },
  stage: { type: 'enumeration', fieldType: 'select', options: ['New', 'Won'].map(option) },
} as const;
function option(value: string) {
  return { label: value, value, hidden: false };
}
type Kind = keyof typeof kinds;
const own = (name: string) => `leadsync_verify_${name}`;
/** Its status: 409 when it was there already. */
const define = async (name: string, kind: Kind, more: object = {}) => {
  const made = { name, label: name, groupName: 'companyinformation', ...kinds[kind], ...more };
  return (await ask('POST', definitions, made)).status;
};

/** All companies, and our properties: only of a portal that had no company when this began. */
let wasEmpty = false;
async function removeAll(): Promise<void> {
  if (!wasEmpty) return;
  const ids = (await list([])).map(({ id }) => id);
  for (let at = 0; at < ids.length; at += 100) await archive(...ids.slice(at, at + 100));
  for (const name of said<string>((await ask('GET', definitions)).body, 'name'))
    if (name.startsWith(own(''))) await ask('DELETE', `${definitions}/${name}`);
}
const id = own('id');
beforeAll(async () => {
  const { status, body } = await ask('GET', `${companies}?limit=1&properties=name`);
  if (status >= 300) throw new Error(`HubSpot answers ${status}: ${JSON.stringify(body)}. Nothing was made`);
  if (said<Company[]>(body, 'results').flat().length > 0)
    throw new Error('The portal has companies: take one for tests, without any. Nothing was made');
  wasEmpty = true;
  await removeAll();
  await define(id, 'text', { hasUniqueValue: true });
  for (const kind of Object.keys(kinds)) await define(own(kind), kind as Kind);
});
afterAll(removeAll);

interface Input {
  readonly id?: string;
  readonly trace?: string;
  readonly properties: object;
}
const send = (verb: 'create' | 'update' | 'upsert', ...inputs: readonly Input[]) =>
  post(`/batch/${verb}`, {
    inputs: inputs.map(({ trace, ...input }) => ({
      ...input,
      ...(verb === 'upsert' && { idProperty: id }),
      ...(trace !== undefined && { objectWriteTraceId: trace }),
    })),
  });
let made = 0;
const unique = () => `${Date.now()}-${++made}`;
async function one(properties: object = {}) {
  const value = unique();
  const input = { id: value, trace: value, properties: { name: value, ...properties } };
  return { id: (await send('upsert', input)).results[0]?.id ?? '', unique: value };
}
const set = (of: string, properties: object) => send('update', { id: of, trace: '0', properties });
const read = (ids: readonly string[], properties: readonly string[], idProperty?: string) =>
  post('/batch/read', {
    inputs: ids.map((each) => ({ id: each })),
    properties,
    propertiesWithHistory: [],
    ...(idProperty !== undefined && { idProperty }),
  });
const shown = async (key: string, properties: readonly string[] = [], by?: string) =>
  (await read([key], properties, by)).results[0];
/** What is read after a write of it. */
async function stored(property: string, text: unknown) {
  const { id: of } = await one();
  const { status, errors } = await set(of, { [property]: text });
  if (errors.length > 0 || status >= 300) return 'refused';
  return (await shown(of, [property]))?.properties[property];
}
const merge = async (primaryObjectId: string, objectIdToMerge: string) =>
  ((await ask('POST', `${companies}/merge`, { primaryObjectId, objectIdToMerge })).body as Company).id;

describe('HubSpot: what the contract cannot ask', () => {
  test('of a merge comes a new record to which both ids lead, and the value of the winner', async () => {
    const [winner, loser] = [await one({ city: 'Ulm' }), await one({ city: 'Bonn', state: 'NRW' })];
    const came = await merge(winner.id, loser.id);
    expect([winner.id, loser.id]).not.toContain(came);
    expect([(await shown(winner.id))?.id, (await shown(loser.id))?.id]).toEqual([came, came]);
    const of = await shown(winner.unique, ['city', 'state'], id);
    expect(of).toMatchObject({ id: came, properties: { city: 'Ulm', state: 'NRW' } });
    expect(await shown(loser.unique, [], id)).toBeUndefined();
    expect((await set(loser.id, { city: 'Kiel' })).results).toMatchObject([{ id: came }]);
    const last = await merge((await one()).id, came);
    const named = (of?: Company) => of?.properties[merges]?.split(/[;:]/);
    expect(named(await shown(last, [merges]))).toEqual(expect.arrayContaining([winner.id, loser.id, came]));
    expect((await shown(loser.id))?.id).toBe(last);
    await archive(last);
    const bin = await list([merges], true);
    expect(named(bin.find((each) => each.id === last))).toContain(loser.id);
    expect(bin.filter((each) => [winner.id, loser.id].includes(each.id))).toEqual([]);
  });

  test('a unique value that only the loser of a merge has leads to what came of it', async () => {
    const [winner, loser] = [await one(), await one()];
    await set(winner.id, { [id]: '' });
    expect((await shown(loser.unique, [], id))?.id).not.toBe(await merge(winner.id, loser.id));
    expect((await shown(loser.unique, [], id))?.id).toBeDefined();
  });

  test('with trace ids each input fails alone, and is told by them; without, all fail', async () => {
    const [good, bad] = [await one(), await one()];
    const inputs = [
      { id: good.id, trace: 'good', properties: { [own('stage')]: 'Won' } },
      { id: bad.id, trace: 'bad', properties: { [own('stage')]: 'no such stage' } },
    ];
    const plain = inputs.map(({ trace: _, ...input }) => input);
    expect(await send('update', ...plain)).toMatchObject({ status: 400 });
    expect((await shown(good.id, [own('stage')]))?.properties[own('stage')]).toBeNull();
    expect(await send('update', ...inputs)).toMatchObject({
      status: 207,
      results: [{ id: good.id, objectWriteTraceId: 'good' }],
      errors: [{ context: { objectWriteTraceId: ['bad'] } }],
    });
    expect(await send('update', ...inputs.slice(1))).toMatchObject({ status: 207, results: [] });
  });

  test('a record that is gone, and a unique value that another company has, are told by their codes', async () => {
    const [there, gone] = [await one({ city: 'Ulm' }), await one()];
    expect([(await archive(gone.id)).status, (await archive(gone.id)).status]).toEqual([204, 204]);
    expect([await shown(gone.id), await shown(gone.unique, [], id)]).toEqual([undefined, undefined]);
    const context = { objectWriteTraceId: ['0'] };
    const { errors } = await set(gone.id, { city: 'Ulm' });
    expect(errors).toMatchObject([{ category: 'OBJECT_NOT_FOUND', context }]);
    expect(await send('update', { id: gone.id, properties: { city: 'Ulm' } })).toMatchObject({ status: 404 });
    const taken = { errors: [{ errors: [{ code: 'CONFLICTING_UNIQUE_VALUE' }] }] };
    const properties = { [id]: there.unique, city: 'Bonn' };
    expect(await set((await one()).id, properties)).toMatchObject(taken);
    expect(await send('create', { trace: '0', properties })).toMatchObject(taken);
    expect((await shown(there.id, ['city']))?.properties['city']).toBe('Ulm');
    expect((await list([id], true)).find((each) => each.id === gone.id)?.properties[id]).toBe(gone.unique);
    const again = await send('upsert', { id: gone.unique, trace: '0', properties: { city: 'Ulm' } });
    expect(again.results).toMatchObject([{ new: true }]);
    expect(again.results[0]?.id).not.toBe(gone.id);
  });

  test('two inputs with one id, more than 100, and an id property that is not unique are refused with 400', async () => {
    const { id: of, unique: value } = await one();
    const twice = (key: string) =>
      [1, 2].map((nth) => ({ id: key, trace: `${nth}`, properties: { city: `${nth}` } }));
    const many = Array.from({ length: 101 }, (_, nth) => `none-${nth}`);
    for (const refused of [
      await send('update', ...twice(of)),
      await send('upsert', ...twice(value)),
      await read([of, of], []),
      await read(many, [], id),
      await read([value], [], own('text')),
    ])
      expect(refused.status).toBe(400);
    const found = await read([value, ...many.slice(0, 99)], ['name'], id);
    expect(found).toMatchObject({ status: 207, results: [{ id: of }] });
  });

  const moment = '2026-07-01T07:30:00.123Z';
  const long = 'ü'.repeat(65_536);
  const texts = [
    '  two before  ',
    'a line end\n',
    '<b>bold</b> &',
    '=1+2',
    '👩‍💻 שלום',
    '0042',
    'one\r\ntwo',
    long,
  ];
  test.each<[kind: Kind, kept: string[], refused: (string | null)[], others?: [string, string | null][]]>([
    ['text', texts, [`${long}ü`, null], [['', null]]],
    ['datetime', [moment], ['2026-07-01', '2026-07-01T07:30:00'], [[`${Date.parse(moment)}`, moment]]],
    [
      'date',
      ['2028-02-29'],
      [String(Date.UTC(2026, 6, 1, 12)), '2026-07-01T00:00:00Z', '2026-02-30'],
      [[String(Date.UTC(2026, 6, 1)), '2026-07-01']],
    ],
    ['stage', ['Won'], ['won']],
    ['number', ['1.50'], ['forty-two']],
    ['flag', ['false'], ['yes']],
  ])('values of a %s', async (kind, kept, refused, others = []) => {
    const wanted = [...kept.map((one) => [one, one]), ...refused.map((one) => [one, 'refused']), ...others];
    for (const [text, is] of wanted) expect(await stored(own(kind), text), String(text)).toBe(is);
  });

  test('unique values are told apart by case and by white space at their ends', async () => {
    const value = `${unique()}-abc`;
    const all = [value, value.toUpperCase(), ` ${value} `];
    const inputs = all.map((each) => ({ id: each, trace: each, properties: { city: 'Ulm' } }));
    const { results } = await send('upsert', ...inputs);
    expect(new Set(results.map((each) => each.id)).size).toBe(3);
  });

  test('properties: made at once, 409 when there, unknown ones left out of reads, options replaced, restored as they were', async () => {
    const name = own('fresh');
    expect([await define(name, 'stage'), await define(name, 'stage')]).toEqual([201, 409]);
    expect([await stored(name, 'Won'), await stored(own('unknown'), 'a')]).toEqual(['Won', 'refused']);
    const { id: of } = await one({ [name]: 'Won' });
    const unknown = Array.from({ length: 200 }, (_, nth) => `${own('that_is_not_there')}_${nth}`);
    expect(Object.keys((await list([...unknown, name]))[0]?.properties ?? {})).toContain(name);
    expect((await shown(of, [own('unknown'), 'name']))?.properties).not.toHaveProperty(own('unknown'));
    await ask('PATCH', `${definitions}/${name}`, { options: [option('Won')] });
    expect(await stored(name, 'New')).toBe('refused');
    expect((await ask('DELETE', `${definitions}/${name}`)).status).toBe(204);
    await define(name, 'stage', { label: 'Another label' });
    expect((await ask('GET', `${definitions}/${name}`)).body).toMatchObject({ label: name });
    expect((await shown(of, [name]))?.properties[name]).toBe('Won');
  });

  test('the history of a value, a company without tickets, and the headers of the limits', async () => {
    const text = own('text');
    const { id: of } = await one({ [text]: 'first' });
    await set(of, { [text]: 'second' });
    const history = { inputs: [{ id: of }], properties: [], propertiesWithHistory: [text] };
    const { body, headers } = await ask('POST', `${companies}/batch/read`, history);
    const versions = historiesReply.parse(body).get(of)?.[text] ?? [];
    expect(versions.map(({ value }) => value)).toEqual(['second', 'first']);
    expect(Date.parse(versions[0]?.timestamp ?? '')).toBeGreaterThan(0);
    const associations = '/crm/associations/2026-09/companies/tickets/batch/read';
    const tickets = await ask('POST', associations, { inputs: [{ id: of }] });
    expect(said(tickets.body, 'results').flat()).toEqual([]);
    expect(headers.get('x-hubspot-ratelimit-interval-milliseconds')).toBe('10000');
    for (const limit of ['max', 'remaining', 'daily', 'daily-remaining'])
      expect(headers.get(`x-hubspot-ratelimit-${limit}`)).toMatch(/^\d+$/);
  });
});
