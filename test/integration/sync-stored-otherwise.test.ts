import { expect, test } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/options.ts';
import { Workspace } from '../support/workspace.ts';

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
}, 120_000);
