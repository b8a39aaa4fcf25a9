import { describe, expect, test } from 'vitest';
import type { HubSpotSandboxOptions } from '../../stand-ins/hubspot/hubspot-sandbox.ts';
import { type HubSpotHarness, makeHubSpotHarness } from '../../contract/hubspot-harness.ts';
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
  status,
  update,
  verdict,
} from '../../contract/target-harness.ts';

const ids = (count: number) => Array.from({ length: count }, (_, n) => `id-${n}`);
const sent = ({ sandbox }: HubSpotHarness, kind: string) =>
  sandbox.requests.filter((request) => request.kind === kind).map(({ inputs }) => inputs);

describe.each<[string, HubSpotSandboxOptions]>([
  ['with 207', {}],
  ['with 200', { partial: '200', order: 'input' }],
  ['without trace ids, as a whole', { traceIds: false }],
])('records that HubSpot refuses, reported %s', (_, options) => {
  test('are held with its words; all others are written', async () => {
    await using harness = await makeHubSpotHarness(options);
    const { person } = harness.sandbox;
    harness.edit(() => [headings, ...ids(150).map((id) => [id, 'Old', '', '', '', ''])]);
    person.addRule('name', (name) => name !== 'bad', 'Names are good here.');
    const bad = new Set(['id-3', 'id-77', 'id-120', 'id-200', 'id-201']);
    const name = (id: string) => (bad.has(id) ? 'bad' : 'New');
    const changes = [
      ...ids(150).map((id) => update(id, {}, { name: name(id) })),
      ...ids(300)
        .slice(150)
        .map((id) => append(id, { name: name(id) }, 'in step')),
      status('id-3', 'told'),
    ];
    const target = harness.target({ statusColumn: 'Sync' });
    const outcomes = await target.write(changes, never());
    const held = outcomes.filter((outcome) => outcome.status !== 'done');
    expect(held.map(({ key }) => key).toSorted()).toEqual([...bad, 'id-3 false'].toSorted());
    for (const outcome of held)
      expect(outcome).toMatchObject({
        status: 'held',
        code: 'target.value-not-storable',
        message: expect.stringMatching(/^HubSpot refused .*: Names are good here\. It was/),
      });
    const names = new Map(harness.show()?.map((row) => [row[0], row[1]]));
    for (const id of ids(150)) expect(names.get(id)).toBe(bad.has(id) ? 'Old' : 'New');
    for (const id of ids(300).slice(150)) expect(names.get(id)).toBe(bad.has(id) ? undefined : 'New');

    // What is known to be refused is not sent again in this run, and is in the next.
    const before = sent(harness, 'update').length;
    expect(
      await target.write([update('id-3', {}, { name: 'bad' }), status('id-3', 'told')], never()),
    ).toMatchObject([{ status: 'held' }, { status: 'held' }]);
    expect(sent(harness, 'update')).toHaveLength(before);
    await target.open({ create: true }, never());
    await target.write([update('id-3', {}, { name: 'bad' }), status('id-3', 'told')], never());
    expect(sent(harness, 'update')).toHaveLength(before + 1);
  });

  test('a company deleted at the last moment is not created again', async () => {
    await using harness = await makeHubSpotHarness(options);
    harness.edit(() => [headings, anna, bert]);
    const [first] = harness.sandbox.person.companies();
    harness.sandbox.before = ({ kind }) => {
      if (kind === 'update') harness.sandbox.person.archive(first?.id ?? '');
      harness.sandbox.before = kind === 'update' ? null : harness.sandbox.before;
    };
    const outcomes = await harness
      .target()
      .write([update('id-a', {}, { city: 'Rome' }), update('id-b', {}, { city: 'Oslo' })], never());
    expect(outcomes.map(verdict)).toEqual(['row.gone', 'done']);
    expect(harness.show()).toEqual([headings, bert.with(3, 'Oslo')]);
  });

  test('a large write takes the fewest possible requests', async () => {
    await using harness = await makeHubSpotHarness(options);
    harness.edit(() => [headings, ...ids(250).map((id) => [id, 'Old', '', '', '', ''])]);
    const target = harness.target();
    await readAll(target);
    const before = target.requests;
    await target.write(
      ids(400).map((id, n) => (n < 250 ? update(id, {}, { name: 'New' }) : append(id, { name: 'New' }))),
      never(),
    );
    expect(sent(harness, 'batch-read')).toEqual([100, 100, 100, 100]);
    expect(sent(harness, 'update')).toEqual([100, 100, 50]);
    expect(sent(harness, 'create')).toEqual([100, 50]);
    expect(target.requests - before).toBe(10);
    expect(harness.sandbox.requests.filter(({ kind }) => kind === 'search')).toEqual([]);
  });
});

test('a company that requests a lead gets its id, beside other requests; companies without a request stay untouched', async () => {
  await using harness = await makeHubSpotHarness();
  harness.edit(() => [headings, anna]);
  const { person } = harness.sandbox;
  const quiet = person.create({ name: 'Loose Ltd', lead_city: 'Leeds' });
  const asking = person.create({ name: 'Loose Ltd', lead_city: 'Leeds', lead_sync: 'true' });
  const refusing = person.create({ name: 'Loose Ltd', lead_city: 'Leeds', lead_sync: 'false' });
  const target = harness.target();
  expect((await readAll(target)).map(({ leadId, row }) => [leadId, row])).toEqual([
    ['id-a', expect.any(Number)],
    [null, Number(asking)],
  ]);
  expect(
    (await target.write([link('id-1', looseCells), link('id-2', looseCells)], never())).map(verdict),
  ).toEqual(['done', 'row.changed']);
  const idOf = (id: string) => person.companies().find((company) => company.id === id)?.properties['lead_id'];
  expect([quiet, asking, refusing].map(idOf)).toEqual([null, 'id-1', null]);
  // One that does not ask any more is none of ours.
  const late = person.create({ name: 'Late', lead_sync: 'true' });
  await readAll(target);
  person.edit(late, { lead_sync: 'false' });
  expect((await target.write([link('id-3', { name: 'Late' })], never())).map(verdict)).toEqual([
    'row.changed',
  ]);
});

test('a request for a lead without any mapped content is ignored', async () => {
  await using harness = await makeHubSpotHarness();
  harness.edit(() => [headings, loose]);
  harness.sandbox.person.create({ lead_sync: 'true', website: 'example.com' });
  expect((await readAll(harness.target())).map(({ cells }) => cells)).toEqual([looseCells]);
});

test('companies that got their lead are no longer read among the requests', async () => {
  await using harness = await makeHubSpotHarness();
  harness.edit(() => [headings, ...ids(150).map((id) => loose.with(1, id))]);
  const target = harness.target();
  await readAll(target);
  const links = ids(150).map((id) => link(id, { ...looseCells, name: id }));
  expect(new Set((await target.write(links.slice(0, 60), never())).map(verdict))).toEqual(new Set(['done']));
  await target.write(links.slice(60), never());
  await target.write([link('id-z', looseCells)], never());
  // Each time those that are asked for by id, and in batches of a hundred those that ask.
  expect(sent(harness, 'batch-read')).toEqual([60, 100, 50, 90, 100, 50, 1, 90]);
});

test('blanks around an id do not matter', async () => {
  await using harness = await makeHubSpotHarness();
  harness.edit(() => [headings, anna.with(0, ' id-a ')]);
  const target = harness.target();
  expect((await readAll(target)).map(({ leadId }) => leadId)).toEqual(['id-a']);
  expect((await target.write([update('id-a', annaCells, { city: 'Rome' })], never())).map(verdict)).toEqual([
    'done',
  ]);
  expect(harness.show()).toEqual([headings, anna.with(0, ' id-a ').with(3, 'Rome')]);
});

test('a value that HubSpot turned back into the earlier one is not restored again', async () => {
  await using harness = await makeHubSpotHarness({ trim: true });
  harness.edit(() => [headings, anna]);
  const outcomes = await harness.target().write([update('id-a', {}, { city: 'Aachen ' })], never());
  expect(outcomes.map(verdict)).toEqual(['target.value-not-storable']);
  expect(sent(harness, 'update')).toEqual([1]);
});

test('two companies whose ids differ in blanks are duplicates', async () => {
  await using harness = await makeHubSpotHarness();
  harness.edit(() => [headings, [' id-a', ...anna.slice(1)], ['id-a ', ...bert.slice(1)]]);
  const target = harness.target();
  await readAll(target);
  expect((await target.write([remove('id-a', bertCells)], never())).map(verdict)).toEqual(['row.duplicated']);
  expect((await target.write([update('id-a', annaCells, { city: 'Rome' })], never())).map(verdict)).toEqual([
    'done',
  ]);
  expect(harness.show()?.map((row) => row[3])).toEqual(['City', 'Rome', 'Bonn']);
});

test('messages speak of companies and properties, not of a table', async () => {
  await using harness = await makeHubSpotHarness();
  harness.edit(() => [headings, anna, [' id-b', ...bert.slice(1)], ['id-b ', ...bert.slice(1)]]);
  const target = harness.target();
  await readAll(target);
  const outcomes = await target.write(
    [
      update('id-a', { city: 'Other' }, { city: 'Rome' }),
      update('id-x', {}, { city: 'Rome' }),
      append('id-a', { name: 'Other' }),
      append('id-y', { stage: 'new' }),
      append('id-z', { name: 'x'.repeat(70_000) }),
      remove('id-b', bertCells),
      link('id-l', looseCells),
      { kind: 'mark', key: 'm', leadId: 'id-a', expect: annaCells, text: 'gone' },
    ],
    never(),
  );
  expect(outcomes.map(verdict)).toEqual([
    'row.changed',
    'row.gone',
    'row.exists',
    'target.column-missing',
    'target.value-not-storable',
    'row.duplicated',
    'row.changed',
    'target.no-status-column',
  ]);
  for (const outcome of outcomes)
    expect(outcome.status === 'done' ? '' : outcome.message).not.toMatch(
      /\b(?:row|column|cell|table|sheet)s?\b/i,
    );
});
