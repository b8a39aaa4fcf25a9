import { describe, expect, test, vi } from 'vitest';
import {
  type HubSpotSandbox,
  type HubSpotSandboxOptions,
  startHubSpotSandbox,
} from '../../stand-ins/hubspot/hubspot-sandbox.ts';
import { listConflicts } from '../../../src/store/conflicts.ts';
import { makeHubSpotHarness } from '../../contract/hubspot-harness.ts';
import { append, headings, never, readAll, remove, verdict } from '../../contract/target-harness.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

vi.setConfig({ testTimeout: 120_000 });

const nothing = { leads: 0, rows: 0 };

/** Two leads and one more, in step with the companies of a portal. */
async function inStep(portal: HubSpotSandbox, sync: object = {}) {
  const workspace = await Workspace.open({
    sandbox: { leads: 3 },
    connection: { target: { type: 'hubspot', token: '${HUBSPOT_TOKEN}', path: undefined }, sync },
    env: { HUBSPOT_URL: portal.url, HUBSPOT_TOKEN: portal.token },
  });
  expect(await workspace.sync({ maxAttempts: 3 })).toMatchObject({ created: { leads: 0, rows: 3 } });
  const [one, two] = workspace.sandbox.leads.list();
  if (one === undefined || two === undefined) throw new Error('too few leads');
  const companyOf = (leadId: string): string => {
    const found = portal.person.companies().find(({ properties }) => properties['lead_id'] === leadId);
    if (found === undefined) throw new Error(`no company of ${leadId}`);
    return found.id;
  };
  return { workspace, one, two, companyOf };
}

const leadIds = ({ person }: HubSpotSandbox) =>
  person.companies().flatMap(({ properties }) => properties['lead_id'] ?? []);

const ways: [string, HubSpotSandboxOptions][] = [
  ['into a new record', {}],
  ['into the winner', { merge: 'primary' }],
  ['into a new record, the old ones in the recycle bin', { mergedInBin: true }],
];

describe.each(ways)('two companies of leads that a person merges %s', (_, options) => {
  test.each([{ onRowDeleted: 'restore' }, { onRowDeleted: 'delete-lead' }])(
    'stay one, and both leads stay: %o',
    async (settings) => {
      await using portal = await startHubSpotSandbox({ limits: null, ...options });
      const { workspace, one, two, companyOf } = await inStep(portal, settings);
      await using _ = workspace;
      // Before any scan saw where the new companies stand.
      const stayed = portal.person.merge(companyOf(one.id), companyOf(two.id));
      for (let night = 1; night <= 4; night++) {
        const report = await workspace.sync({ maxAttempts: 3 });
        expect(report, `night ${night}`).toMatchObject({ created: nothing, deleted: nothing, held: 1 });
        expect(leadIds(portal)).toHaveLength(2);
        expect(workspace.sandbox.leads.list()).toHaveLength(3);
      }
      const [held] = await listConflicts(workspace.database.pool, connectionName);
      expect(held).toMatchObject({ leadId: two.id, code: 'row.merged' });
      expect(held?.message).toContain(`${JSON.stringify(one.companyName)} (record ${stayed})`);
      expect(held?.message).toContain(`lead_id ${one.id}`);

      // The one that stayed goes on, and an edit of the other lead makes no company either.
      portal.person.edit(stayed, { city: 'Rome' });
      workspace.sandbox.leads.edit(two.id, { city: 'Oslo' });
      expect(await workspace.sync({ maxAttempts: 3 })).toMatchObject({
        updated: { leads: 1, rows: 0 },
        held: 1,
      });
      expect(workspace.sandbox.leads.get(one.id)).toMatchObject({ city: 'Rome' });
      expect(leadIds(portal)).toHaveLength(2);
    },
  );

  test('and then merges with a third: each lead but one is held', async () => {
    await using portal = await startHubSpotSandbox({ limits: null, ...options });
    const { workspace, one, two, companyOf } = await inStep(portal);
    await using _ = workspace;
    const third = leadIds(portal).find((id) => id !== one.id && id !== two.id) ?? '';
    portal.person.merge(companyOf(one.id), companyOf(two.id));
    await workspace.sync({ maxAttempts: 3 });
    portal.person.merge(companyOf(third), companyOf(one.id));
    for (const _ of [1, 2, 3])
      expect(await workspace.sync({ maxAttempts: 3 })).toMatchObject({ created: nothing, held: 2 });
    expect(leadIds(portal)).toEqual([third]);
  });

  test('are held until a person decides: the lead is deleted, or gets a company of its own', async () => {
    await using portal = await startHubSpotSandbox({ limits: null, ...options });
    const { workspace, one, two, companyOf } = await inStep(portal);
    await using _ = workspace;
    portal.person.merge(companyOf(one.id), companyOf(two.id));
    expect(await workspace.sync({ maxAttempts: 3 })).toMatchObject({ held: 1 });
    portal.person.create({ lead_id: two.id, name: two.companyName });
    const settled = await workspace.sync({ maxAttempts: 3 });
    expect(settled.problems.filter(({ code }) => code === 'row.merged')).toEqual([]);
    portal.person.merge(companyOf(one.id), companyOf(two.id));
    expect((await workspace.sync({ maxAttempts: 3 })).problems.map(({ code }) => code)).toContain(
      'row.merged',
    );
    workspace.sandbox.leads.remove(two.id);
    for (const _ of [1, 2])
      expect(await workspace.sync({ maxAttempts: 3 })).toMatchObject({ created: nothing, held: 0 });
    expect(leadIds(portal)).toHaveLength(2);
  });
});

test('a company that goes into one that is no lead’s: the lead is held, and the message says where its id belongs', async () => {
  await using portal = await startHubSpotSandbox({ limits: null });
  const { workspace, two, companyOf } = await inStep(portal);
  await using _ = workspace;
  const stranger = portal.person.create({ name: 'Stranger' });
  const stayed = portal.person.merge(stranger, companyOf(two.id));
  portal.person.edit(stayed, { lead_id: '' });
  expect(await workspace.sync({ maxAttempts: 3 })).toMatchObject({ created: nothing, held: 1 });
  const [held] = await listConflicts(workspace.database.pool, connectionName);
  expect(held?.message).toContain('has no lead_id now');
  // As the message says.
  portal.person.edit(stayed, { lead_id: two.id });
  expect((await workspace.sync({ maxAttempts: 3 })).created).toEqual(nothing);
  expect(leadIds(portal)).toHaveLength(3);
});

test('a new lead whose id another company got meanwhile never writes over that company', async () => {
  for (const traceIds of [true, false]) {
    await using harness = await makeHubSpotHarness({ traceIds });
    harness.edit(() => [headings]);
    const { person } = harness.sandbox;
    let typed = '';
    harness.sandbox.before = ({ kind }) => {
      if (kind === 'create' && typed === '')
        typed = person.create({ lead_id: 'id-n', name: 'Typed by hand' });
    };
    const outcomes = await harness
      .target()
      .write([append('id-n', { name: 'New' }), append('id-m', { name: 'More' })], never());
    expect(outcomes).toMatchObject([
      { status: 'held', code: 'row.exists', message: expect.stringContaining(typed) },
      { status: 'done', row: expect.any(Number) },
    ]);
    expect(person.companies().map(({ properties }) => properties['name'])).toEqual(['Typed by hand', 'More']);
  }
});

test('a company that stands for another lead as well is not taken away with the one', async () => {
  await using harness = await makeHubSpotHarness();
  harness.edit(() => [headings, ['id-a', 'Acme', '', '', '', ''], ['id-b', 'Bolt', '', '', '', '']]);
  const { person } = harness.sandbox;
  const [a = '', b = ''] = person.companies().map(({ id }) => id);
  person.merge(a, b);
  const target = harness.target();
  await readAll(target);
  expect((await target.write([remove('id-a', { name: 'Acme' })], never())).map(verdict)).toEqual([
    'row.has-own-cells',
  ]);
});

describe.each(ways)('a merged company that a person then deletes, merged %s', (_, options) => {
  test.each([
    { when: 'on another day', isSeenBetween: true },
    { when: 'on the same day', isSeenBetween: false },
  ])('$when: neither lead gets a new one while it can be restored', async ({ isSeenBetween }) => {
    await using portal = await startHubSpotSandbox({ limits: null, ...options });
    const { workspace, one, two, companyOf } = await inStep(portal);
    await using _ = workspace;
    const stayed = portal.person.merge(companyOf(one.id), companyOf(two.id));
    if (isSeenBetween) await workspace.sync({ maxAttempts: 3 });
    portal.person.archive(stayed);
    workspace.sandbox.leads.edit(two.id, { city: 'Oslo' });
    for (const night of [1, 2, 3]) {
      const report = await workspace.sync({ maxAttempts: 3 });
      expect(report, `night ${night}`).toMatchObject({ created: nothing, deleted: nothing, held: 2 });
      expect(report.problems.map(({ code }) => code)).toEqual(['row.archived', 'row.archived']);
      expect(leadIds(portal)).toHaveLength(1);
    }
    portal.person.restore(stayed);
    for (const _ of [1, 2]) {
      const report = await workspace.sync({ maxAttempts: 3 });
      expect(report).toMatchObject({ created: nothing, held: 1 });
      expect(report.problems.map(({ code }) => code)).toEqual(['row.merged']);
    }
    expect(leadIds(portal)).toHaveLength(2);
    if (options.mergedInBin === true) return;
    portal.person.purge(stayed);
    await workspace.sync({ maxAttempts: 3 });
    expect(leadIds(portal)).toHaveLength(3);
  });
});

describe.each(ways)('three companies that become one in a day, merged %s', (_, options) => {
  test.each([
    { order: 'into the third', kept: 0 },
    { order: 'with the third', kept: 1 },
    { order: 'into the third', kept: 2 },
    { order: 'with the third', kept: null },
  ])('$order, which keeps the id $kept: the other leads are held', async ({ order, kept }) => {
    await using portal = await startHubSpotSandbox({ limits: null, ...options });
    const { workspace, companyOf } = await inStep(portal, { onRowDeleted: 'delete-lead' });
    await using _ = workspace;
    const ids = workspace.sandbox.leads.list().map(({ id }) => id);
    const [a = '', b = '', c = ''] = ids.map(companyOf);
    const both = portal.person.merge(b, a);
    const stayed = order === 'with the third' ? portal.person.merge(both, c) : portal.person.merge(c, both);
    const id = kept === null ? '' : (ids[kept] ?? '');
    // As if somebody had asked for a lead for one of them.
    portal.person.edit(stayed, { lead_id: id, lead_sync: 'true' });
    for (const night of [1, 2, 3]) {
      const report = await workspace.sync({ maxAttempts: 3 });
      expect(report, `night ${night}`).toMatchObject({ created: nothing, deleted: nothing });
      const codes = report.problems.map(({ code }) => code);
      expect(codes.filter((code) => code === 'row.merged')).toHaveLength(kept === null ? 3 : 2);
      expect(leadIds(portal)).toEqual(id === '' ? [] : [id]);
      expect(workspace.sandbox.leads.list()).toHaveLength(3);
    }
  });
});
