import { describe, expect, test } from 'vitest';
import { allScopes } from '../../stand-ins/hubspot/operations.ts';
import { type HubSpotHarness, makeHubSpotHarness } from '../../contract/hubspot-harness.ts';
import {
  anna,
  annaCells,
  append,
  bert,
  bertCells,
  headings,
  never,
  readAll,
  remove,
  update,
  verdict,
} from '../../contract/target-harness.ts';

test('a company in the recycle bin is not created again until it is deleted permanently', async () => {
  await using harness = await makeHubSpotHarness();
  harness.edit(() => [headings, anna, bert]);
  const { person } = harness.sandbox;
  const [a] = person.companies().map(({ id }) => id);
  person.archive(a ?? '');
  const target = harness.target();
  await readAll(target);
  const changes = [append('id-a', annaCells), append('id-n', { name: 'New' })];
  const [held, done] = await target.write(changes, never());
  expect(held).toMatchObject({
    key: 'id-a',
    status: 'held',
    code: 'row.archived',
    message: expect.stringContaining('recycle bin'),
  });
  expect(done).toMatchObject({ status: 'done' });
  expect(harness.show()?.map(([id]) => id)).toEqual(['Lead ID', 'id-b', 'id-n']);

  // The bin is looked through once in a run.
  await target.write([append('id-m', { name: 'More' })], never());
  const looks = () => harness.sandbox.requests.filter(({ kind }) => kind === 'archived-list').length;
  expect(looks()).toBe(1);
  person.purge(a ?? '');
  await readAll(target);
  expect((await target.write(changes, never())).map(verdict)).toEqual(['done', 'done']);
  expect(looks()).toBe(2);
});

test('a company that leadsync archived is in the recycle bin, too', async () => {
  await using harness = await makeHubSpotHarness();
  harness.edit(() => [headings, bert]);
  const target = harness.target();
  await target.write([append('id-n', { name: 'New' })], never());
  expect((await target.write([remove('id-b', bertCells)], never())).map(verdict)).toEqual(['done']);
  expect((await target.write([append('id-b', bertCells)], never())).map(verdict)).toEqual(['row.archived']);
});

describe('removing', () => {
  test.each<[string, (harness: HubSpotHarness, id: string) => void]>([
    ['a value of its own', ({ sandbox }, id) => sandbox.person.edit(id, { website: 'example.com' })],
    ['a number of its own', ({ sandbox }, id) => sandbox.person.edit(id, { numberofemployees: '5' })],
    ['an owner', ({ sandbox }, id) => sandbox.person.edit(id, { hubspot_owner_id: '4711' })],
    ['a lead status', ({ sandbox }, id) => sandbox.person.edit(id, { hs_lead_status: 'OPEN' })],
    ['a later stage', ({ sandbox }, id) => sandbox.person.edit(id, { lifecyclestage: 'customer' })],
    ['contacts', ({ sandbox }, id) => sandbox.person.associate(id, 1, 0)],
    ['deals', ({ sandbox }, id) => sandbox.person.associate(id, 0, 2)],
    ['notes', ({ sandbox }, id) => sandbox.person.associate(id, 0, 0, 1)],
    ['tickets', ({ sandbox }, id) => sandbox.person.associate(id, 0, 0, 0, 1)],
  ])('leaves a company with %s', async (_, act) => {
    await using harness = await makeHubSpotHarness();
    harness.edit(() => [headings, bert]);
    const [company] = harness.sandbox.person.companies();
    act(harness, company?.id ?? '');
    for (const bare of [true, false])
      expect(await harness.target().write([remove('id-b', bertCells, bare)], never())).toMatchObject([
        { status: 'held', code: 'row.has-own-cells' },
      ]);
    expect(harness.show()).toEqual([headings, bert]);
  });

  test('leaves a company whose tickets the key cannot see, and names the scope', async () => {
    const scopes = allScopes.filter((scope) => scope !== 'tickets');
    await using harness = await makeHubSpotHarness({ scopes });
    harness.edit(() => [headings, anna, bert]);
    expect(
      await harness
        .target()
        .write([remove('id-b', bertCells), update('id-a', annaCells, { city: 'Rome' })], never()),
    ).toMatchObject([
      {
        status: 'held',
        code: 'target.forbidden',
        message: expect.stringContaining('lacks the scope tickets'),
      },
      { status: 'done' },
    ]);
    expect(harness.show()?.map(([id]) => id)).toEqual(['Lead ID', 'id-a', 'id-b']);
  });

  test.each<[string, (harness: HubSpotHarness, id: string) => void]>([
    ['what HubSpot fills by itself', ({ sandbox }, id) => sandbox.person.associate(id, 0, 0)],
    [
      'the stage with which it began',
      ({ sandbox }, id) => sandbox.person.edit(id, { lifecyclestage: 'lead' }),
    ],
    ['the wish for a lead', ({ sandbox }, id) => sandbox.person.edit(id, { lead_sync: 'true' })],
  ])('archives one with %s', async (_, act) => {
    await using harness = await makeHubSpotHarness();
    harness.edit(() => [headings, bert]);
    const [company] = harness.sandbox.person.companies();
    act(harness, company?.id ?? '');
    expect((await harness.target().write([remove('id-b', bertCells)], never())).map(verdict)).toEqual([
      'done',
    ]);
    expect(harness.show()).toEqual([headings]);
    harness.sandbox.person.restore(company?.id ?? '');
    expect(harness.show()).toEqual([headings, bert]);
  });
});
