import { expect, test } from 'vitest';
import type { SandboxOptions } from '../../../src/demo/options.ts';
import { parseFaults } from '../../../src/demo/faults.ts';
import { LeadOrder } from '../../../src/demo/lead-table.ts';
import { attemptOverAfter } from '../../../src/core/merge/match-lost-creates.ts';
import { advanceRun } from '../../../src/sync/run.ts';
import { until } from '../../support/until.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

const never = new AbortController().signal;

const newRow = {
  Company: '  New   Acme Handels GmbH ',
  Segment: 'smb',
  City: 'Ulm',
  Region: 'BW',
  Stage: 'new',
  'Next follow-up': '2031-03-01T08:00:00.000Z',
};

test.each<[string, Partial<SandboxOptions>]>([
  ['trims it', { trimText: true }],
  ['ignores a field', { ignoredFields: ['segment'] }],
  ['does both', { trimText: true, ignoredFields: ['segment'] }],
])('nothing twice: POST tells nothing and the service %s', async (_, service) => {
  await using here = await Workspace.open({ sandbox: { leads: 5, createReply: 'nothing', ...service } });
  await here.sync();
  here.sheet.add(newRow);
  for (let night = 0; night < 3; night++) await here.sync();

  const made = here.sandbox.leads.list().filter(({ companyName }) => companyName.includes('Acme Handels'));
  expect(made).toHaveLength(1);
  expect(here.sandbox.stats.byRoute.create).toBe(1);
  const rows = here.sheet.rows();
  expect(rows).toHaveLength(6);
  expect(rows.filter((row) => row['Company']?.includes('Acme Handels')).map((row) => row['Lead ID'])).toEqual(
    [made[0]?.id],
  );
});

test('a create that the service confirmed and nobody recognises is held, and no lead is made again', async () => {
  await using here = await Workspace.open({ sandbox: { leads: 5, createReply: 'nothing' } });
  await here.sync();
  // The service throws the new lead away at once: it confirms, but there is nothing to be found.
  const add = here.sandbox.leads.add.bind(here.sandbox.leads);
  here.sandbox.leads.add = (fields) => {
    const lead = add(fields);
    here.sandbox.leads.remove(lead.id);
    return lead;
  };
  here.sheet.add(newRow);
  for (let night = 0; night < 3; night++) await here.sync();
  const report = await here.sync();

  expect(here.sandbox.stats.byRoute.create).toBe(1);
  expect(report).toMatchObject({ status: 'partial', held: 1, putOff: 0 });
  expect(report.problems).toMatchObject([{ code: 'create.in-doubt', row: 7 }]);
  // A held create is no reason to scan more than once.
  expect(report.requests.leads).toBe(1);
});

test('nothing twice: a lost reply, and somebody made the same lead by hand: a person says which is whose', async () => {
  await using here = await Workspace.open({ sandbox: { leads: 1 } });
  await here.sync();
  here.sheet.add(newRow);
  const faults = parseFaults('lost-reply:once=1,on=POST;503:after=2,on=list');
  here.sandbox.set({ faults });
  expect(await here.sync()).toMatchObject({ status: 'failed', putOff: 1 });

  const [ours] = here.sandbox.leads.list().slice(-1);
  if (ours === undefined) throw new Error('nothing was made');
  const { id: _, ...fields } = ours;
  const theirs = here.sandbox.leads.add(fields);
  here.sandbox.set({ faults: [] });
  for (let night = 0; night < 3; night++) {
    expect(await here.sync()).toMatchObject({
      status: 'partial',
      held: 1,
      created: { leads: 0, rows: 0 },
      problems: [{ code: 'create.in-doubt', row: 3, message: expect.stringContaining(theirs.id) as string }],
    });
  }
  here.sheet.edit((row) => row['Company'] === newRow.Company, { 'Lead ID': ours.id });
  expect(await here.sync()).toMatchObject({ status: 'succeeded', created: { leads: 0, rows: 1 } });
  expect(here.sandbox.leads.size).toBe(3);
  expect(here.sheet.rows().map((row) => row['Lead ID'])).toEqual([expect.any(String), ours.id, theirs.id]);
});

test('nothing twice: a new row is renamed while its create is in doubt, and a row above that is like it has lost its id', async () => {
  await using here = await Workspace.open({ sandbox: { leads: 1 } });
  await here.sync();
  const [above] = here.sheet.rows();
  if (above === undefined) throw new Error('no row');
  here.sheet.add({ ...above, 'Lead ID': '', Company: 'Acme Handels GmbH' });
  here.sandbox.set({ faults: parseFaults('lost-reply:once=1,on=POST;503:after=2,on=list') });
  expect(await here.sync()).toMatchObject({ status: 'failed', putOff: 1 });

  here.sandbox.set({ faults: [] });
  here.sheet.edit((row) => row['Company'] === 'Acme Handels GmbH', { Company: 'Acme Handel AG' });
  here.sheet.edit((row) => row['Company'] === above['Company'], { 'Lead ID': '#REF!' });
  for (let night = 0; night < 3; night++) await here.sync();
  expect(here.sandbox.leads.list().map(({ companyName }) => companyName)).toEqual([
    above['Company'],
    'Acme Handels GmbH',
  ]);
  expect(here.sheet.rows().map((row) => row['Company'])).toEqual([above['Company'], 'Acme Handel AG']);

  here.sheet.edit((row) => row['Company'] === above['Company'], { 'Lead ID': above['Lead ID'] ?? '' });
  await here.sync();
  expect(here.sandbox.leads.list().map(({ companyName }) => companyName)).toEqual([
    above['Company'],
    'Acme Handel AG',
  ]);
});

test('nothing twice: the one lead that a person was asked about is missed by a scan', async () => {
  const ignoredFields = ['segment', 'city', 'region'];
  await using here = await Workspace.open({ sandbox: { leads: 1, ignoredFields } });
  await here.sync();
  here.sheet.add(newRow);
  here.sandbox.set({ faults: parseFaults('lost-reply:once=1,on=POST') });
  for (let night = 0; night < 4; night++) {
    const report = await here.sync();
    expect(report).toMatchObject({ held: 1, problems: [{ code: 'create.in-doubt', row: 3 }] });
    await here.database.pool.query(`update actions set attempted_at = attempted_at - interval '1 minute'`);
  }

  const { leads } = here.sandbox;
  const [known] = leads.list();
  const places = leads.places.bind(leads);
  leads.places = () => {
    leads.places = places;
    const some = new LeadOrder();
    some.add(known?.id ?? '');
    return some;
  };
  await here.sync();

  expect(await here.sync()).toMatchObject({ held: 1, problems: [{ code: 'create.in-doubt', row: 3 }] });
  expect(leads.size).toBe(2);
});

test('nothing twice: a service that lists at random shows the new lead late, and half of the others not at all', async () => {
  await using here = await Workspace.open({ sandbox: { leads: 12, repeatItems: 1, maxLimit: 3 } });
  await here.sync();
  here.sheet.add(newRow);
  const { leads } = here.sandbox;
  const known = leads.list();
  const places = leads.places.bind(leads);
  leads.places = () => {
    const some = new LeadOrder();
    for (const { id } of known.slice(0, 6)) some.add(id);
    return some;
  };
  here.sandbox.set({ faults: parseFaults('lost-reply:once=1,on=POST') });
  for (let night = 0; night < 3; night++) {
    await here.sync();
    await here.database.pool.query(`update actions set attempted_at = attempted_at - interval '1 minute'`);
  }
  leads.places = places;
  here.sandbox.set({ repeatItems: 0 });
  await here.sync();

  expect(here.sandbox.stats.byRoute.create).toBe(1);
  expect(here.sheet.rows().filter((row) => row['Company'] === newRow.Company)).toMatchObject([
    { 'Lead ID': leads.list().at(-1)?.id },
  ]);
});

test('a new row that was edited beside others like it: its id, written by hand, ends the doubt for all of them', async () => {
  await using here = await Workspace.open({ sandbox: { leads: 3, createReply: 'location' } });
  const { sandbox, sheet } = here;
  await here.sync();
  sheet.add({ Company: 'Neu P', Stage: 'new' });
  sandbox.set({ faults: [{ kind: 'slow', ms: 300, when: { once: 1 }, on: ['create'] }] });
  const syncing = here.sync();
  await until('the lead is being made', () => sandbox.stats.byRoute.create === 1);
  sheet.edit((row) => row['Company'] === 'Neu P', { Stage: 'edited' });
  sheet.add({ Company: 'Neu Q', Stage: 'new' });
  sheet.add({ Company: 'Neu R', Stage: 'new' });
  expect(await syncing).toMatchObject({ status: 'partial', problems: [{ code: 'create.in-doubt' }] });

  const made = sandbox.leads.list().find(({ companyName }) => companyName === 'Neu P');
  sheet.edit((row) => row['Company'] === 'Neu P', { 'Lead ID': made?.id ?? '' });
  const report = await here.sync();
  expect(report).toMatchObject({
    status: 'succeeded',
    created: { leads: 2 },
    updated: { leads: 1 },
    held: 0,
  });
  const leads = sandbox.leads.list().filter(({ companyName }) => companyName.startsWith('Neu'));
  expect(leads.map(({ companyName, stage }) => `${companyName} ${stage}`).toSorted()).toEqual([
    'Neu P edited',
    'Neu Q new',
    'Neu R new',
  ]);
  expect(new Set(sheet.rows().map((row) => row['Lead ID'])).size).toBe(6);
});

test('a create that got no reply, behind a filter that hides leads: a person is asked, and nothing is made again', async () => {
  await using here = await Workspace.open({
    sandbox: { leads: 5 },
    connection: { leads: { query: { stage: 'new' } } },
  });
  await here.sync();
  here.sheet.add(newRow);
  here.sandbox.set({ faults: parseFaults('reset:every=1,on=POST') });
  expect(await here.sync()).toMatchObject({ status: 'partial', putOff: 1 });
  here.sandbox.set({ faults: [] });
  await here.database.pool.query(`update actions set attempted_at = attempted_at - interval '1 minute'`);

  const report = await here.sync();

  expect(report).toMatchObject({ status: 'partial', held: 1, putOff: 0 });
  expect(report.problems).toMatchObject([
    { code: 'create.in-doubt', message: expect.stringContaining('leads.query') },
  ]);
  expect(here.sandbox.leads.size).toBe(5);
  // A filtered scan proves nothing: there is no use in scanning again and again.
  expect(report.requests.leads).toBe(1);

  // As the message says: that the row was deleted is the person's answer, and nothing is kept of the create.
  here.sheet.remove((row) => row['Company'] === newRow.Company);
  expect(await here.sync()).toMatchObject({ status: 'succeeded', held: 0 });
  here.sheet.add(newRow);
  expect(await here.sync()).toMatchObject({ status: 'succeeded', created: { leads: 1 } });
});

test('a worker whose clock is wrong looks after a create without a reply as soon as any other', async () => {
  await using here = await Workspace.open({ sandbox: { leads: 2 } });
  await here.sync();
  here.sheet.add(newRow);
  here.sandbox.set({ faults: [{ kind: 'reset', when: { every: 1 }, on: ['create'] }] });
  await using app = await here.openApp();
  const context = app.contexts.get(connectionName);
  if (context === undefined) throw new Error('the connection is not configured');
  const clock = { ...context.clock, now: () => Date.now() - 600_000 };
  const request = { mode: 'sync', allow: ['first-leads'], maxAttempts: 3 } as const;
  const waits: number[] = [];
  for (;;) {
    const result = await advanceRun({ ...context, clock }, request, never);
    if (result.kind === 'finished' || result.why !== 'settling') break;
    waits.push(result.afterMs);
    if (result.afterMs > 0) break;
  }
  expect(waits.at(-1)).toBeGreaterThan(0);
  expect(waits.at(-1)).toBeLessThanOrEqual(attemptOverAfter);
});

test('nothing twice: pairs are forgotten, and the row of a lead that was created from it has lost its id', async () => {
  await using here = await Workspace.open({ sandbox: { leads: 1 }, connection: { sync: { match: 'off' } } });
  await here.sync();
  here.sheet.add(newRow);
  expect(await here.sync()).toMatchObject({ status: 'succeeded', created: { leads: 1 } });
  // As after a state of another keeper was accepted.
  await here.database.pool.query(
    `delete from pairs where lead_id = (select lead_id from actions where intent = 'linked')`,
  );
  here.sheet.edit((row) => row['Company'] === newRow.Company, { 'Lead ID': '' });
  const { runId } = await here.sync();
  // The row gets its id back; no other one is planned for the lead.
  const { rows: pages } = await here.database.pool.query(
    'select leads from actions where run_id = $1 and body is not null',
    [runId],
  );
  expect(pages).toEqual([]);
  await here.sync();
  expect(here.sandbox.leads.list()).toHaveLength(2);
  expect(here.sheet.rows().map((row) => row['Lead ID'])).toEqual(
    here.sandbox.leads.list().map(({ id }) => id),
  );
});
