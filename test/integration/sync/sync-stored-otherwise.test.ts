import { expect, test } from 'vitest';
import { parseFaults } from '../../../src/demo/faults.ts';
import { Workspace } from '../../support/workspace.ts';

const newRow = {
  Company: '  New   Acme Handels GmbH ',
  Segment: 'smb',
  City: 'Ulm',
  Region: 'BW',
  Stage: 'new',
  'Next follow-up': '2031-03-01T08:00:00.000Z',
};

test('no edit is lost: a text that the service cuts short is held, both values kept', async () => {
  await using here = await Workspace.open({ sandbox: { leads: 3 } });
  await here.sync();
  const [lead] = here.sandbox.leads.list();
  if (lead === undefined) throw new Error('no lead');
  const edit = here.sandbox.leads.edit.bind(here.sandbox.leads);
  here.sandbox.leads.edit = (id, fields) =>
    edit(id, {
      ...fields,
      ...(fields.companyName !== undefined && { companyName: fields.companyName.slice(0, 10) }),
    });
  here.sheet.edit((row) => row['Lead ID'] === lead.id, { Company: 'Edited with a long name' });
  for (let night = 0; night < 2; night++) {
    expect(await here.sync()).toMatchObject({
      status: 'partial',
      held: 1,
      problems: [{ field: 'companyName' }],
    });
  }
  expect(here.sandbox.leads.get(lead.id)?.companyName).toBe('Edited wit');
  expect(here.sheet.rows().find((row) => row['Lead ID'] === lead.id)?.['Company']).toBe(
    'Edited with a long name',
  );
  expect(here.sandbox.stats.byRoute.update).toBe(1);
});

test('nothing twice: somebody goes on typing into a new row each time its id is to be written', async () => {
  await using here = await Workspace.open({ sandbox: { leads: 1 } });
  await here.sync();
  here.sheet.add({ ...newRow, Company: 'Acme' });
  const isOurs = ({ Company }: { readonly Company?: string }) => Company === 'Acme';
  const { leads } = here.sandbox;
  const add = leads.add.bind(leads);
  leads.add = (fields) => {
    here.sheet.edit(isOurs, { City: 'Bonn', Segment: 'large' });
    return add(fields);
  };
  const edit = leads.edit.bind(leads);
  leads.edit = (id, fields) => {
    leads.edit = edit;
    here.sheet.edit(isOurs, { Region: 'NRW', Stage: 'won' });
    return edit(id, fields);
  };
  for (let night = 0; night < 3; night++) await here.sync();

  const made = leads.list().filter(({ companyName }) => companyName === 'Acme');
  expect(made).toMatchObject([{ city: 'Bonn', segment: 'large', region: 'NRW', stage: 'won' }]);
  expect(here.sheet.rows().filter(isOurs)).toHaveLength(1);
});

test('no edit is lost: a new lead that cannot be read back, and of which the service ignores a field, empties no cell', async () => {
  await using here = await Workspace.open({
    sandbox: { leads: 2, createReply: 'location', ignoredFields: ['region'] },
  });
  await here.sync();
  here.sheet.add(newRow);
  here.sandbox.set({ faults: parseFaults('503:every=1,on=get') });
  await here.sync();
  here.sandbox.set({ faults: [] });

  const report = await here.sync();

  expect(report).toMatchObject({ held: 1, problems: [{ code: 'lead.field-refused', field: 'region' }] });
  expect(here.sandbox.leads.size).toBe(3);
  expect(here.sheet.rows().find((row) => row['Company']?.includes('Acme Handels'))).toMatchObject({
    Region: 'BW',
    City: 'Ulm',
    'Lead ID': expect.stringMatching(/./),
  });
});
