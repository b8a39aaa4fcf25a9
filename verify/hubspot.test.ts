import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Secret } from '../src/config/secret.ts';
import { systemClock } from '../src/ports/clock.ts';
import { historiesReply } from '../src/targets/hubspot/hubspot-replies.ts';
import { createHubSpotTarget, type HubSpotOptions } from '../src/targets/hubspot/hubspot-target.ts';
import { asks, hubspotCannot, keptRows, propertyOf } from '../test/contract/hubspot-harness.ts';
import { describeWriters } from '../test/contract/target-meanwhile.ts';
import { describeNewRows } from '../test/contract/target-new-rows.ts';
import { describeReading } from '../test/contract/target-reading.ts';
import { describeSpellings } from '../test/contract/target-spellings.ts';
import { describeStatus } from '../test/contract/target-status.ts';
import { describeWriting } from '../test/contract/target-writing.ts';
import { contractFields, headings, type TargetHarness } from '../test/contract/target-harness.ts';
import { asker, patient } from './ask.ts';

const { env } = process;
const token = env['HUBSPOT_TOKEN'] ?? '';
const apiUrl = (env['HUBSPOT_URL'] ?? 'https://api.hubapi.com').replace(/\/+$/, '');
const ask = asker(apiUrl, () => ({ authorization: `Bearer ${token}` }));
const companies = '/crm/objects/2026-09/companies';
const definitions = '/crm/properties/2026-09/companies';
const merges = 'hs_merged_object_ids';

const company = z.looseObject({ id: z.string(), properties: z.record(z.string(), z.string().nullish()) });
type Company = z.infer<typeof company>;
const reply = z.looseObject({
  results: z.array(company).default([]),
  errors: z.array(z.unknown()).default([]),
  paging: z.looseObject({ next: z.looseObject({ after: z.string() }) }).optional(),
});
async function post(path: string, body: object) {
  const { status, body: came } = await ask('POST', companies + path, body);
  return { ...reply.parse(status < 300 && typeof came === 'object' ? came : {}), status };
}
async function list(properties: readonly string[], archived = false): Promise<Company[]> {
  const all: Company[] = [];
  for (let after = ''; ; ) {
    const query = new URLSearchParams({
      limit: '100',
      archived: `${archived}`,
      properties: properties.join(),
      ...(after !== '' && { after }),
    });
    const { results, paging } = reply.parse((await ask('GET', `${companies}?${query.toString()}`)).body);
    all.push(...results);
    if (paging === undefined) return all;
    after = paging.next.after;
  }
}
const archive = (ids: readonly string[]) => post('/batch/archive', { inputs: ids.map((id) => ({ id })) });

const kinds = {
  text: { type: 'string', fieldType: 'text' },
  datetime: { type: 'datetime', fieldType: 'date' },
  date: { type: 'date', fieldType: 'date' },
  number: { type: 'number', fieldType: 'number' },
  flag: { type: 'bool', fieldType: 'booleancheckbox' },
  stage: { type: 'enumeration', fieldType: 'select' },
} as const;
const option = (value: string) => ({ label: value, value, hidden: false });
const own = (kind: string) => `leadsync_verify_${kind}`;
/** Whether it was there already. */
async function define(name: string, kind: keyof typeof kinds, more: object = {}): Promise<boolean> {
  const options = { stage: ['New', 'Won'], flag: ['true', 'false'] };
  const chosen = kind === 'stage' || kind === 'flag' ? { options: options[kind].map(option) } : {};
  const made = { name, label: name, groupName: 'companyinformation', ...kinds[kind], ...chosen, ...more };
  return (await ask('POST', definitions, made)).status === 409;
}
const listed = z.looseObject({ results: z.array(z.looseObject({ name: z.string() })) });
/** All companies: only of a portal that had none when this began. */
let wasEmpty = false;
async function removeAll(): Promise<void> {
  if (!wasEmpty) return;
  const ids = (await list(['lead_id'])).map(({ id }) => id);
  for (let at = 0; at < ids.length; at += 100) {
    const some = ids.slice(at, at + 100);
    // Archived with its id, a company would be taken for a deleted lead's by the next test.
    await post('/batch/update', { inputs: some.map((id) => ({ id, properties: { lead_id: '' } })) });
    await archive(some);
  }
  for (const { name } of listed.parse((await ask('GET', definitions)).body).results)
    if (
      name.startsWith(own('')) ||
      name === 'lead_sync' ||
      headings.some((heading) => heading !== 'Company' && propertyOf(heading) === name)
    )
      await ask('DELETE', `${definitions}/${name}`);
}

beforeAll(async () => {
  const { status, body } = await ask('GET', `${companies}?limit=1&properties=name`);
  if (status >= 300) throw new Error(`HubSpot answers ${status}: ${JSON.stringify(body)}. Nothing was made`);
  if (reply.parse(body).results.length > 0)
    throw new Error('The portal has companies: take one for tests, without any. Nothing was made');
  wasEmpty = true;
});
afterAll(removeAll);

async function livePortal(): Promise<TargetHarness> {
  await removeAll();
  let head: readonly string[] = headings.filter((heading) => heading !== 'Notes');
  let order: readonly string[] = [];
  const targets = new AsyncDisposableStack();
  const shown = async () => {
    const all = await list(head.map(propertyOf));
    const place = new Map(order.map((id, index) => [id, index]));
    const placeOf = (one: Company) => place.get(one.id) ?? order.length;
    return all
      .toSorted((a, b) => placeOf(a) - placeOf(b) || Number(a.id) - Number(b.id))
      .map(({ id, properties }) => ({ id, row: head.map((each) => properties[propertyOf(each)] ?? '') }));
  };
  return {
    async show() {
      const { results } = listed.parse((await ask('GET', definitions)).body);
      if (!results.some(({ name }) => name === 'lead_id')) return null;
      return [head, ...(await shown()).map(({ row }) => row)];
    },
    async edit(change) {
      const before = await shown();
      const [now = [], ...rows] = change(before.length === 0 ? [] : [head, ...before.map(({ row }) => row)]);
      head = now;
      await define('lead_sync', 'flag');
      for (const name of head.map(propertyOf))
        await define(name, name === 'lead_next_follow_up' ? 'datetime' : 'text', {
          hasUniqueValue: name === 'lead_id',
        });
      const kept = keptRows(before, rows, head.indexOf('Lead ID'));
      const gone = before.flatMap(({ id }) => ([...kept.values()].includes(id) ? [] : [id]));
      if (gone.length > 0) await archive(gone);
      const ids: string[] = [];
      for (const [index, row] of rows.entries()) {
        const known = kept.get(index);
        const properties = {
          ...Object.fromEntries(head.map((each, nth) => [propertyOf(each), row[nth] ?? ''])),
          ...asks(head, row),
        };
        const { results } = await (known === undefined
          ? post('/batch/create', { inputs: [{ properties }] })
          : post('/batch/update', { inputs: [{ id: known, properties }] }));
        ids.push(results[0]?.id ?? '');
      }
      order = ids;
    },
    target({ fields = contractFields, ...rest }: Partial<HubSpotOptions> = {}) {
      const { idColumn = 'Lead ID', statusColumn } = rest;
      const target = createHubSpotTarget({
        apiUrl,
        accessToken: new Secret(token),
        timeZone: 'Europe/Berlin',
        clock: systemClock,
        fields: fields.map((field) => ({ ...field, column: propertyOf(field.column) })),
        idColumn: propertyOf(idColumn),
        ...(statusColumn !== undefined && { statusColumn: propertyOf(statusColumn) }),
      });
      return patient(targets.use(target));
    },
    [Symbol.asyncDispose]: () => targets.disposeAsync(),
  };
}

// Neither its place nor its marks: no portal is again as one in which nothing was.
const cannot = new Set(hubspotCannot);
describeReading('HubSpot', livePortal, cannot);
describeWriting('HubSpot', livePortal, cannot);
describeNewRows('HubSpot', livePortal);
describeStatus('HubSpot', livePortal, cannot);
describeSpellings('HubSpot', livePortal);
describeWriters('HubSpot', livePortal);

describe('HubSpot: what the contract cannot ask', () => {
  const id = own('id');
  let made = 0;
  const unique = () => `${Date.now()}-${++made}`;
  type Input = { readonly id?: string; readonly trace?: string; readonly properties: object };
  const send = (verb: 'create' | 'update' | 'upsert', ...inputs: readonly Input[]) =>
    post(`/batch/${verb}`, {
      inputs: inputs.map(({ trace, ...input }) => ({
        ...input,
        ...(verb === 'upsert' && { idProperty: id }),
        ...(trace !== undefined && { objectWriteTraceId: trace }),
      })),
    });
  const one = async (properties: object = {}) => {
    const value = unique();
    const { results } = await send('upsert', {
      id: value,
      trace: value,
      properties: { name: value, ...properties },
    });
    return { id: results[0]?.id ?? '', unique: value };
  };
  const read = (ids: readonly string[], properties: readonly string[], by?: string) =>
    post('/batch/read', {
      inputs: ids.map((each) => ({ id: each })),
      properties,
      propertiesWithHistory: [],
      ...(by !== undefined && { idProperty: by }),
    });
  const shown = async (key: string, properties: readonly string[], by?: string) =>
    (await read([key], properties, by)).results[0];
  /** What is read after a write of the text; or the status or code of the refusal. */
  const stored = async (property: string, text: unknown) => {
    const { id: of } = await one();
    const { status, errors } = await send('update', { id: of, trace: '0', properties: { [property]: text } });
    if (errors.length > 0 || status >= 300) return 'refused';
    return (await shown(of, [property]))?.properties[property];
  };
  const merge = async (winner: string, loser: string) =>
    company.parse(
      (await ask('POST', `${companies}/merge`, { primaryObjectId: winner, objectIdToMerge: loser })).body,
    ).id;

  beforeAll(async () => {
    await removeAll();
    await define(id, 'text', { hasUniqueValue: true });
    for (const kind of Object.keys(kinds)) await define(own(kind), kind as keyof typeof kinds);
  });

  test('of a merge comes a new record to which both ids lead, and the value of the winner', async () => {
    const [winner, loser] = [await one({ city: 'Ulm' }), await one({ city: 'Bonn', state: 'NRW' })];
    const came = await merge(winner.id, loser.id);
    expect([winner.id, loser.id]).not.toContain(came);
    expect([(await shown(winner.id, []))?.id, (await shown(loser.id, []))?.id]).toEqual([came, came]);
    expect(await shown(winner.unique, ['city', 'state'], id)).toMatchObject({
      id: came,
      properties: { city: 'Ulm', state: 'NRW' },
    });
    expect(await shown(loser.unique, [], id)).toBeUndefined();
    const updated = await send('update', { id: loser.id, trace: '0', properties: { city: 'Kiel' } });
    expect(updated.results.map((each) => each.id)).toEqual([came]);
    const last = await merge((await one()).id, came);
    const named = (await shown(last, [merges]))?.properties[merges]?.split(/[;:]/);
    expect(named).toEqual(expect.arrayContaining([winner.id, loser.id, came]));
    expect((await shown(loser.id, []))?.id).toBe(last);
    await archive([last]);
    const bin = await list([merges], true);
    expect(bin.find((each) => each.id === last)?.properties[merges]?.split(/[;:]/)).toContain(loser.id);
    expect(bin.filter((each) => [winner.id, loser.id].includes(each.id))).toEqual([]);
  });

  test('a unique value that only the loser of a merge has leads to what came of it', async () => {
    const [winner, loser] = [await one(), await one()];
    await send('update', { id: winner.id, trace: '0', properties: { [id]: '' } });
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
    expect([(await archive([gone.id])).status, (await archive([gone.id])).status]).toEqual([204, 204]);
    expect([await shown(gone.id, []), await shown(gone.unique, [], id)]).toEqual([undefined, undefined]);
    expect(await send('update', { id: gone.id, trace: 'gone', properties: { city: 'Ulm' } })).toMatchObject({
      errors: [{ category: 'OBJECT_NOT_FOUND', context: { objectWriteTraceId: ['gone'] } }],
    });
    expect(await send('update', { id: gone.id, properties: { city: 'Ulm' } })).toMatchObject({ status: 404 });
    const taken = { errors: [{ errors: [{ code: 'CONFLICTING_UNIQUE_VALUE' }] }] };
    const properties = { [id]: there.unique, city: 'Bonn' };
    expect(await send('update', { id: (await one()).id, trace: '0', properties })).toMatchObject(taken);
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
    expect(await read([value, ...many.slice(0, 99)], ['name'], id)).toMatchObject({
      status: 207,
      results: [{ id: of }],
    });
  });

  const [spaces, moment] = ['  two before, two after  ', '2026-07-01T07:30:00.123Z'];
  test.each<[kind: keyof typeof kinds, text: unknown, is: string | null]>([
    ...[
      spaces,
      'a line end\n',
      '<b>bold</b> & "quoted"',
      '=1+2',
      '👩‍💻 Yılmaz שלום',
      '0042',
      'one\r\ntwo',
      'ü'.repeat(65_536),
    ].map((text): ['text', string, string] => ['text', text, text]),
    ['text', 'ü'.repeat(65_537), 'refused'],
    ['text', null, 'refused'],
    ['text', '', null],
    ['datetime', moment, moment],
    ['datetime', String(Date.parse(moment)), moment],
    ['datetime', '2026-07-01', 'refused'],
    ['datetime', '2026-07-01T07:30:00', 'refused'],
    ['date', '2028-02-29', '2028-02-29'],
    ['date', String(Date.UTC(2026, 6, 1)), '2026-07-01'],
    ['date', String(Date.UTC(2026, 6, 1, 12)), 'refused'],
    ['date', '2026-07-01T00:00:00Z', 'refused'],
    ['date', '2026-02-30', 'refused'],
    ['stage', 'Won', 'Won'],
    ['stage', 'won', 'refused'],
    ['number', '1.50', '1.50'],
    ['number', 'forty-two', 'refused'],
    ['flag', 'false', 'false'],
    ['flag', 'yes', 'refused'],
  ])('a value of a %s: %.40j', async (kind, text, is) => {
    expect(await stored(own(kind), text)).toBe(is);
  });

  test('unique values are told apart by case and by white space at their ends', async () => {
    const value = `${unique()}-abc`;
    const all = [value, value.toUpperCase(), ` ${value} `];
    const { results } = await send(
      'upsert',
      ...all.map((each) => ({ id: each, trace: each, properties: { city: 'Ulm' } })),
    );
    expect(new Set(results.map((each) => each.id)).size).toBe(3);
  });

  test('properties: made at once, 409 when there, unknown ones left out of reads, options replaced, restored as they were', async () => {
    const name = own('fresh');
    expect([await define(name, 'stage'), await define(name, 'stage')]).toEqual([false, true]);
    expect([await stored(name, 'Won'), await stored(own('unknown'), 'a')]).toEqual(['Won', 'refused']);
    const { id: of } = await one({ [name]: 'Won' });
    const long = Array.from({ length: 200 }, (_, nth) => `${own('that_is_not_there')}_${nth}`);
    expect(Object.keys((await list([...long, name]))[0]?.properties ?? {})).toContain(name);
    expect((await shown(of, [own('unknown'), 'name']))?.properties).not.toHaveProperty(own('unknown'));
    await ask('PATCH', `${definitions}/${name}`, { options: [option('Won')] });
    expect(await stored(name, 'New')).toBe('refused');
    expect((await ask('DELETE', `${definitions}/${name}`)).status).toBe(204);
    await define(name, 'stage', { label: 'Another label' });
    expect((await ask('GET', `${definitions}/${name}`)).body).toMatchObject({ label: name });
    expect((await shown(of, [name]))?.properties[name]).toBe('Won');
  });

  test('the history of a value, a company without tickets, and the headers of the limits', async () => {
    const { id: of } = await one({ [own('text')]: 'first' });
    await send('update', { id: of, trace: '0', properties: { [own('text')]: 'second' } });
    const history = { inputs: [{ id: of }], properties: [], propertiesWithHistory: [own('text')] };
    const { body, headers } = await ask('POST', `${companies}/batch/read`, history);
    const versions = historiesReply.parse(body).get(of)?.[own('text')] ?? [];
    expect(versions.map(({ value }) => value)).toEqual(['second', 'first']);
    expect(Date.parse(versions[0]?.timestamp ?? '')).toBeGreaterThan(0);
    const tickets = await ask('POST', '/crm/associations/2026-09/companies/tickets/batch/read', {
      inputs: [{ id: of }],
    });
    expect(reply.parse(tickets.body).results).toEqual([]);
    expect(headers.get('x-hubspot-ratelimit-interval-milliseconds')).toBe('10000');
    for (const limit of ['max', 'remaining', 'daily', 'daily-remaining'])
      expect(headers.get(`x-hubspot-ratelimit-${limit}`)).toMatch(/^\d+$/);
  });
});
