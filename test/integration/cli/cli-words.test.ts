import { expect, test } from 'vitest';
import { Workspace } from '../../support/workspace.ts';

test('a German list against an English service: a first plan proposes the words, check names those that lack one', async () => {
  const stages = (stage: unknown) => ({ fields: { companyName: 'Firma', city: 'Ort', stage } });
  await using workspace = await Workspace.open({ connection: stages('Phase') });
  const { sheet, sandbox } = workspace;
  for (const stage of ['new', 'proposal']) sandbox.leads.add({ companyName: `In ${stage}`, stage });
  sheet.write([
    ['Lead ID', 'Firma', 'Ort', 'Phase'],
    ['', 'Acme GmbH', 'Ulm', 'Neu'],
    ['', 'Bolt AG', 'Bonn', 'Angebot'],
  ]);
  const first = await workspace.cli('plan');
  const proposed = first.stdout.split('\n').filter((line) => line.startsWith('      '));
  expect(proposed).toEqual([
    '      stage:',
    '        column: "Phase"',
    '        values:',
    '          # also of the service: "proposal"',
    '          "Neu": "new"',
    '          "Angebot": # ?',
  ]);

  workspace.configure(stages({ column: 'Phase', values: { Neu: 'new' } }));
  const check = await workspace.cli('check');
  expect(check.stdout).toContain('2 rows, all mapped columns exist or will be created');
  expect(check.stdout).toContain(
    'held unless the service says the same, since `values` lacks the word: Phase "Angebot" (1 cell)',
  );
  expect((await workspace.cli('plan')).stdout).not.toContain('the table says');

  const held = await workspace.cli('sync', '--allow', 'first-leads');
  expect([held.code, sandbox.leads.list().length]).toEqual([3, 3]);
  expect(held.stdout).toContain(
    'row 3 ("Bolt AG") is new, but its Phase "Angebot" stands for no value of the service',
  );
  expect((await workspace.cli('conflicts')).stdout).toContain('[row.unmapped]');

  workspace.configure(stages({ column: 'Phase', values: { Neu: 'new', Angebot: 'proposal' } }));
  expect((await workspace.cli('sync')).code).toBe(0);
  expect(
    sheet
      .rows()
      .map(({ Firma, Phase }) => `${Firma}: ${Phase}`)
      .toSorted(),
  ).toEqual(['Acme GmbH: Neu', 'Bolt AG: Angebot', 'In new: Neu', 'In proposal: Angebot']);
  expect(
    sandbox.leads
      .list()
      .map(({ stage }) => stage)
      .toSorted(),
  ).toEqual(['new', 'new', 'proposal', 'proposal']);
});
