import { expect, test, vi } from 'vitest';
import { startHubSpotSandbox } from '../../stand-ins/hubspot/hubspot-sandbox.ts';
import { listConflicts } from '../../../src/store/conflicts.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

vi.setConfig({ testTimeout: 120_000 });

const connection = { target: { type: 'hubspot', token: '${HUBSPOT_TOKEN}', path: undefined } };

test('the first sync of a fresh portal whose new properties take 700 ms writes every company', async () => {
  await using portal = await startHubSpotSandbox({ limits: null, propertyLagMs: 700 });
  portal.person.create({ name: 'Somebody' });
  await using workspace = await Workspace.open({
    sandbox: { leads: 5 },
    connection,
    env: { HUBSPOT_URL: portal.url, HUBSPOT_TOKEN: portal.token },
  });
  // One try: nothing fails and is tried again.
  expect(await workspace.sync({ maxAttempts: 1 })).toMatchObject({
    status: 'succeeded',
    created: { leads: 0, rows: 5 },
  });
  expect(portal.requests.filter(({ status }) => status >= 400)).toEqual([]);
});

test('a key that may only read: edits travel to the leads, what would be written is held and names the scope', async () => {
  const scopes = ['crm.objects.companies.read', 'crm.schemas.companies.read'];
  await using portal = await startHubSpotSandbox({ limits: null, scopes });
  const { person } = portal;
  for (const name of ['lead_id', 'lead_sync'])
    person.addProperty({ name, type: 'string', fieldType: 'text', hasUniqueValue: name === 'lead_id' });
  await using workspace = await Workspace.open({
    sandbox: { leads: 3 },
    connection: { ...connection, fields: { companyName: 'name', city: 'city' } },
    env: { HUBSPOT_URL: portal.url, HUBSPOT_TOKEN: portal.token },
  });
  const [edited, other, fresh] = workspace.sandbox.leads.list();
  if (!edited || !other || !fresh) throw new Error('too few leads');
  for (const { id, companyName, city } of [edited, other])
    person.create({ lead_id: id, name: companyName, city: city ?? '' });
  const first = await workspace.sync({ maxAttempts: 3 });
  expect(first).toMatchObject({ created: { leads: 0, rows: 0 }, held: 1 });
  const [company] = person.companies();
  person.edit(company?.id ?? '', { city: 'Rome' });
  workspace.sandbox.leads.edit(other.id, { city: 'Oslo' });
  expect(await workspace.sync({ maxAttempts: 3 })).toMatchObject({ updated: { leads: 1, rows: 0 }, held: 2 });
  expect(workspace.sandbox.leads.get(edited.id)).toMatchObject({ city: 'Rome' });
  const held = await listConflicts(workspace.database.pool, connectionName);
  expect(new Map(held.map(({ leadId, code }) => [leadId, code]))).toEqual(
    new Map([other, fresh].map(({ id }) => [id, 'target.forbidden'])),
  );
  for (const { message } of held) expect(message).toContain('lacks the scope crm.objects.companies.write');
});
