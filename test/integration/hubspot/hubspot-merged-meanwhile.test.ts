import { describe, expect, test } from 'vitest';
import type { HubSpotSandboxOptions } from '../../stand-ins/hubspot/hubspot-sandbox.ts';
import { makeHubSpotHarness } from '../../contract/hubspot-harness.ts';
import {
  anna,
  annaCells,
  bert,
  headings,
  link,
  loose,
  looseCells,
  never,
  readAll,
  update,
  verdict,
} from '../../contract/target-harness.ts';

describe.each<[string, HubSpotSandboxOptions]>([
  ['into a new record', {}],
  ['into the winner', { merge: 'primary', mergedInBin: true }],
])('companies that a person merges %s', (_, options) => {
  test('are found by the surviving id', async () => {
    await using harness = await makeHubSpotHarness(options);
    harness.edit(() => [headings, anna, bert, loose]);
    const target = harness.target();
    await readAll(target);
    const { person } = harness.sandbox;
    const [a, b, c] = person.companies().map(({ id }) => id);
    person.merge(a ?? '', c ?? '');
    expect((await target.write([update('id-a', annaCells, { city: 'Rome' })], never())).map(verdict)).toEqual(
      ['done'],
    );
    // The one without id is gone into it.
    expect((await target.write([link('id-l', looseCells)], never())).map(verdict)).toEqual(['row.changed']);
    person.merge(
      b ?? '',
      person.companies().find(({ properties }) => properties['lead_id'] === 'id-a')?.id ?? '',
    );
    const rows = await readAll(target);
    expect(rows.map(({ leadId }) => leadId)).toEqual(['id-b']);
    const outcomes = await target.write(
      [update('id-a', {}, { city: 'Bath' }), update('id-b', {}, { city: 'Oslo' })],
      never(),
    );
    expect(outcomes.map(verdict)).toEqual(['row.gone', 'done']);
  });
});

test.each([true, false])('companies merged at the moment of a write: trace ids %s', async (traceIds) => {
  await using harness = await makeHubSpotHarness({ traceIds });
  harness.edit(() => [headings, anna, bert, loose]);
  const { person } = harness.sandbox;
  const [a = '', b = '', c = ''] = person.companies().map(({ id }) => id);
  const merging = (winner: string, loser: string) => {
    harness.sandbox.before = ({ kind }) => {
      if (kind !== 'update') return;
      harness.sandbox.before = null;
      person.merge(winner, loser);
    };
  };
  const target = harness.target();
  merging(a, c);
  expect((await target.write([update('id-a', {}, { city: 'Rome' })], never())).map(verdict)).toEqual([
    'done',
  ]);
  const heir = person.companies().find(({ properties }) => properties['lead_id'] === 'id-a');
  expect(heir?.properties['lead_city']).toBe('Rome');
  // What is another lead's now is not taken for this one's.
  merging(heir?.id ?? '', b);
  expect((await target.write([update('id-b', {}, { city: 'Oslo' })], never())).map(verdict)).toEqual([
    'row.gone',
  ]);
});
