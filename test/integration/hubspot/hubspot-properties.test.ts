import { describe, expect, test } from 'vitest';
import { allScopes } from '../../stand-ins/hubspot/operations.ts';
import type { FieldMapping } from '../../../src/core/lead/mapping.ts';
import { type HubSpotHarness, makeHubSpotHarness } from '../../contract/hubspot-harness.ts';
import {
  anna,
  annaCells,
  append,
  contractFields,
  headings,
  never,
  readAll,
  update,
} from '../../contract/target-harness.ts';

const stage: FieldMapping = {
  field: 'stage',
  column: 'lead_stage',
  type: 'text',
  direction: 'two-way',
  values: ['new', 'won'],
};
const fields = [...contractFields, stage];

/** Without the question whose the key is. */
const asked = ({ sandbox }: HubSpotHarness) => sandbox.requests.filter(({ kind }) => kind !== 'account');

describe('a fresh portal', () => {
  test('gets a group and all properties, as the mapping needs them', async () => {
    await using harness = await makeHubSpotHarness();
    const { person } = harness.sandbox;
    const before = new Set(person.properties().map(({ name }) => name));
    const snapshot = await harness.target({ fields, statusColumn: 'Sync' }).open({ create: true }, never());
    expect(snapshot).toMatchObject({ created: true, missing: [], closed: [] });
    const made = person.properties().filter(({ name }) => !before.has(name));
    const text = { type: 'string', fieldType: 'text', hasUniqueValue: false, options: [] };
    expect(made.map(({ groupName: _, ...property }) => property)).toEqual([
      { ...text, name: 'lead_sync', type: 'bool', fieldType: 'booleancheckbox', options: ['true', 'false'] },
      { ...text, name: 'lead_status' },
      { ...text, name: 'lead_city' },
      { ...text, name: 'lead_next_follow_up', type: 'datetime', fieldType: 'date' },
      { ...text, name: 'lead_stage', type: 'enumeration', fieldType: 'select', options: ['new', 'won'] },
      // Last: who was interrupted before goes on.
      { ...text, name: 'lead_id', hasUniqueValue: true },
    ]);
    expect(new Set(made.map(({ groupName }) => groupName))).toEqual(new Set(['leadsync']));
  });

  test('is left as it is by a plan, and its companies are none of ours', async () => {
    await using harness = await makeHubSpotHarness();
    harness.sandbox.person.create({ name: 'Somebody' });
    expect(await readAll(harness.target())).toEqual([]);
    await expect(harness.target().write([append('id-n', {})], never())).rejects.toMatchObject({
      code: 'target.changed',
      retry: 'now',
    });
    expect(asked(harness).map(({ method }) => method)).toEqual(['GET', 'GET', 'GET']);
    await harness.target().open({ create: true }, never());
    expect(await readAll(harness.target())).toEqual([]);
  });

  test('is set up to its end when that was interrupted anywhere, or somebody else does it too', async () => {
    for (let at = 1; at <= 9; at++) {
      await using harness = await makeHubSpotHarness();
      let n = 0;
      harness.sandbox.before = ({ kind }) =>
        kind !== 'account' && ++n === at ? { kind: 'reset-after' } : undefined;
      const target = harness.target({ fields, statusColumn: 'Sync' });
      await expect(target.open({ create: true }, never())).rejects.toMatchObject({
        code: 'target.unavailable',
      });
      harness.sandbox.before = null;
      expect([at, await target.open({ create: true }, never())]).toMatchObject([at, { missing: [] }]);
    }
    await using harness = await makeHubSpotHarness();
    const open = () => harness.target({ fields }).open({ create: true }, never());
    const [one, other] = await Promise.all([open(), open()]);
    expect([one.missing, other.missing]).toEqual([[], []]);
  });
});

describe('new properties that take a while to be there', () => {
  test.each([250, 700, 3_000])('%i ms: the first run writes all the same', async (propertyLagMs) => {
    await using harness = await makeHubSpotHarness({ propertyLagMs });
    harness.sandbox.person.create({ name: 'Somebody' });
    const target = harness.target({ fields, statusColumn: 'Sync' });
    expect(await target.open({ create: true }, never())).toMatchObject({ created: true, missing: [] });
    const outcomes = await target.write([append('id-n', { ...annaCells, stage: 'won' }, 'in step')], never());
    expect(outcomes).toMatchObject([{ status: 'done' }]);
    expect(harness.sandbox.requests.filter(({ status }) => status >= 400)).toEqual([]);
  });

  test('are waited for when the making of them was interrupted, and by check --fix', async () => {
    await using harness = await makeHubSpotHarness({ propertyLagMs: 700 });
    let posts = 0;
    harness.sandbox.before = ({ kind, method }) =>
      kind === 'properties' && method === 'POST' && ++posts === 6 ? { kind: 'reset-after' } : undefined;
    const target = harness.target({ fields, statusColumn: 'Sync' });
    await expect(target.open({ create: true }, never())).rejects.toMatchObject({ retry: 'later' });
    expect(await target.open({ create: true }, never())).toMatchObject({ missing: [] });
    await using other = await makeHubSpotHarness({ propertyLagMs: 700 });
    expect(await other.target({ fields }).fix(never())).toBe(true);
    expect(await other.target({ fields }).open({ create: false }, never())).toMatchObject({ missing: [] });
  });

  test('end a run when they do not come, and the wait ends with the process', async () => {
    await using harness = await makeHubSpotHarness({ propertyLagMs: 3_600_000 });
    const stop = new AbortController();
    const opened = harness.target().open({ create: true }, stop.signal);
    setTimeout(() => stop.abort(), 500);
    await expect(opened).rejects.toThrow(/abort/i);
  });
});

test('an id property that may be there twice is refused', async () => {
  await using harness = await makeHubSpotHarness();
  harness.sandbox.person.addProperty({ name: 'lead_id', type: 'string', fieldType: 'text' });
  const refused = {
    code: 'target.id-column-missing',
    retry: 'never',
    help: expect.stringContaining('unique'),
  };
  await expect(harness.target().open({ create: true }, never())).rejects.toMatchObject(refused);
  await expect(harness.target().write([append('id-n', {})], never())).rejects.toMatchObject(refused);
  await expect(harness.target().fix(never())).rejects.toMatchObject(refused);
  expect(asked(harness).map(({ method }) => method)).toEqual(['GET', 'GET', 'GET']);
});

test('a field that was added to the mapping gets its property, unless the key may not make one', async () => {
  const mayRead = allScopes.filter((scope) => scope !== 'crm.schemas.companies.write');
  for (const scopes of [allScopes, mayRead]) {
    await using harness = await makeHubSpotHarness({ scopes, propertyLagMs: 300 });
    harness.edit(() => [headings, anna]);
    const { missing } = await harness
      .target({ fields })
      .open({ create: true, newFields: ['stage'] }, never());
    expect(missing.map(({ field }) => field)).toEqual(scopes === mayRead ? ['stage'] : []);
  }
});

describe('check --fix', () => {
  test('makes what is missing, once, and says what is missing before', async () => {
    await using harness = await makeHubSpotHarness();
    harness.edit(() => [['Lead ID', 'Company'], anna.slice(0, 2)]);
    const target = harness.target({ fields, statusColumn: 'Sync' });
    const { missing } = await target.open({ create: true }, never());
    expect(missing.map(({ field }) => field)).toEqual(['city', 'due', 'stage']);
    expect(missing[0]?.message).toMatch(/"lead_city".*leadsync check --fix/);
    expect(await target.fix(never())).toBe(true);
    expect(await target.open({ create: true }, never())).toMatchObject({ missing: [] });
    expect(await target.fix(never())).toBe(false);
  });

  test('adds options to the list as it is, and takes none away', async () => {
    await using harness = await makeHubSpotHarness();
    harness.edit(() => [headings]);
    const { person } = harness.sandbox;
    person.addProperty({
      name: 'lead_stage',
      type: 'enumeration',
      fieldType: 'select',
      options: ['New', 'won'],
    });
    const target = harness.target({ fields, statusColumn: 'Sync' });
    harness.sandbox.before = ({ n }) => {
      // Somebody adds one between our first look and the change.
      if (n === 2) person.setOptions('lead_stage', ['New', 'won', 'lost']);
    };
    expect(await target.fix(never())).toBe(true);
    const property = person.properties().find(({ name }) => name === 'lead_stage');
    expect(property).toMatchObject({ type: 'enumeration', options: ['New', 'won', 'lost', 'new'] });
    expect(await target.fix(never())).toBe(false);
  });

  test('changes no type, and leaves a property of another kind alone', async () => {
    await using harness = await makeHubSpotHarness();
    harness.edit(() => [headings, anna]);
    const { person } = harness.sandbox;
    person.addProperty({ name: 'lead_stage', type: 'string', fieldType: 'text' });
    expect(await harness.target({ fields }).fix(never())).toBe(false);
    expect(person.properties().find(({ name }) => name === 'lead_stage')).toMatchObject({ type: 'string' });
    expect(
      await harness.target({ fields }).write([update('id-a', {}, { stage: 'anything' })], never()),
    ).toMatchObject([{ status: 'done' }]);
  });

  test('a property that was archived comes back as it was', async () => {
    await using harness = await makeHubSpotHarness();
    harness.edit(() => [headings, anna]);
    const { person } = harness.sandbox;
    person.archiveProperty('lead_city');
    const target = harness.target();
    expect((await target.open({ create: true }, never())).missing.map(({ field }) => field)).toEqual([
      'city',
    ]);
    expect(await target.fix(never())).toBe(true);
    expect((await readAll(target))[0]?.cells).toEqual(annaCells);
  });
});

test('a property that is removed while companies are read does not look emptied', async () => {
  for (const at of [2, 3]) {
    await using harness = await makeHubSpotHarness();
    harness.edit(() => [headings, ...Array.from({ length: 150 }, (_, n) => anna.with(0, `id-${n}`))]);
    const target = harness.target();
    harness.sandbox.before = ({ n }) => {
      if (n === at) harness.sandbox.person.archiveProperty('lead_city');
    };
    await expect(target.open({ create: true }, never())).rejects.toMatchObject({
      code: 'target.changed',
      retry: 'now',
    });
    const { missing } = await target.open({ create: true }, never());
    expect(missing.map(({ field }) => field)).toEqual(['city']);
    expect(new Set((await readAll(target)).map(({ cells }) => Object.keys(cells).join()))).toEqual(
      new Set(['name,due']),
    );
  }
});

test('a property that is removed while rows are written: nothing is taken for written, the next try knows', async () => {
  for (const traceIds of [true, false]) {
    for (const at of ['batch-read', 'update']) {
      await using harness = await makeHubSpotHarness({ traceIds });
      harness.edit(() => [headings, anna, anna.with(0, 'id-c')]);
      const target = harness.target();
      await readAll(target);
      harness.sandbox.before = ({ kind }) => {
        if (kind !== at) return;
        harness.sandbox.before = null;
        harness.sandbox.person.archiveProperty('lead_city');
      };
      const changes = [update('id-a', {}, { city: 'Rome' }), update('id-c', {}, { name: 'C' })];
      await expect(target.write(changes, never())).rejects.toMatchObject({
        code: 'target.changed',
        retry: 'now',
      });
      expect(await target.write(changes, never())).toMatchObject([
        { status: 'deferred', code: 'target.column-missing' },
        { status: 'done' },
      ]);
    }
  }
});

test('what HubSpot fills by itself is said, and is not written to', async () => {
  await using harness = await makeHubSpotHarness();
  harness.edit(() => [headings, anna]);
  harness.sandbox.person.addProperty({
    name: 'score',
    type: 'number',
    fieldType: 'number',
    calculated: true,
  });
  const score: FieldMapping = { field: 'score', column: 'score', type: 'text', direction: 'two-way' };
  const target = harness.target({ fields: [...contractFields, score] });
  expect(await target.open({ create: true }, never())).toMatchObject({ closed: ['score'], missing: [] });
  expect(
    await target.write([update('id-a', {}, { score: '5' }), append('id-n', { score: '5' })], never()),
  ).toMatchObject([
    { status: 'held', code: 'target.value-not-storable', message: expect.stringContaining('score') },
    { status: 'held' },
  ]);
  expect(harness.sandbox.requests.filter(({ kind }) => kind === 'update' || kind === 'create')).toEqual([]);
});

test('an archived property of the ids: nobody takes the portal for a new one, and check --fix restores it', async () => {
  await using harness = await makeHubSpotHarness();
  harness.edit(() => [headings, anna]);
  harness.sandbox.person.archiveProperty('lead_id');
  const target = harness.target();
  for (const create of [true, false])
    await expect(target.open({ create }, never())).rejects.toMatchObject({
      code: 'target.id-column-missing',
      retry: 'never',
    });
  expect(harness.sandbox.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  expect(await target.fix(never())).toBe(true);
  expect(await readAll(target)).toMatchObject([{ leadId: 'id-a' }]);
});

test('a property that is gone since: nothing is written by what was known of it', async () => {
  await using harness = await makeHubSpotHarness();
  harness.edit(() => [headings, anna]);
  const target = harness.target();
  await readAll(target);
  harness.sandbox.person.archiveProperty('lead_id');
  await expect(readAll(target)).rejects.toMatchObject({ code: 'target.id-column-missing' });
  await expect(target.write([append('id-n', { name: 'New' })], never())).rejects.toMatchObject({
    code: 'target.changed',
  });
  expect(harness.sandbox.requests.filter(({ kind }) => kind === 'create')).toEqual([]);
});
