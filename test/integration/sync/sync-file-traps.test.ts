import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Workspace } from '../../support/workspace.ts';

const fields = { companyName: 'Company', city: 'City', stage: 'Stage' };

async function inStep(leads = 12): Promise<Workspace> {
  const workspace = await Workspace.open({ sandbox: { leads }, connection: { fields } });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: { rows: leads } });
  return workspace;
}

const leadsOf = ({ sandbox }: Workspace) => structuredClone(sandbox.leads.list());

test('a row that ends early empties nothing: what it does not show is filled', async () => {
  await using workspace = await inStep();
  const [leads, { path }] = [leadsOf(workspace), workspace.sheet];
  const whole = readFileSync(path, 'utf8');
  const lines = whole.split('\r\n');
  const cut = lines.map((line, at) => (at === 3 ? line.split(',').slice(0, 2).join(',') : line));
  writeFileSync(path, cut.join('\r\n'));
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 0, rows: 1 } });
  expect(leadsOf(workspace)).toEqual(leads);
  expect(readFileSync(path, 'utf8')).toBe(whole);
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 0, rows: 0 } });
});

test('a file cut in the middle of its last line stops the run, and nothing is written', async () => {
  await using workspace = await inStep();
  const [leads, { path }] = [leadsOf(workspace), workspace.sheet];
  const whole = readFileSync(path);
  for (const length of [whole.lastIndexOf(','), whole.length >> 1]) {
    const cut = whole.subarray(0, whole.lastIndexOf(',', length));
    writeFileSync(path, cut);
    const run = await workspace.run({ maxAttempts: 2 });
    expect(run).toMatchObject({ status: 'stopped', refusals: [{ code: 'target.incomplete' }] });
    expect(run.refusals[0]?.message).toMatch(
      /leads\.csv ends in the middle of a row.*\(line \d+\).*Save it again/,
    );
    expect(readFileSync(path)).toEqual(cut);
    expect(leadsOf(workspace)).toEqual(leads);
  }
  writeFileSync(path, whole);
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 0, rows: 0 } });
});

test('a file that was emptied stops the run; once it is deleted it is made anew', async () => {
  await using workspace = await inStep();
  const leads = leadsOf(workspace);
  const { path } = workspace.sheet;
  for (const content of ['', '\uFEFF', '\r\n\r\n']) {
    writeFileSync(path, content);
    const run = await workspace.run({ maxAttempts: 2 });
    expect(run).toMatchObject({ status: 'stopped', refusals: [{ code: 'target.emptied' }] });
    expect(readFileSync(path, 'utf8')).toBe(content);
    expect(leadsOf(workspace)).toEqual(leads);
  }
  rmSync(path);
  await workspace.sync({ allow: ['target-gone', 'max-changes'] });
  expect(workspace.sheet.rows()).toHaveLength(12);
});

test.each(['', '\uFEFF', '\n', ' \r\n\r\n'])(
  'a file with nothing in it (%j) is a new one',
  async (content) => {
    await using workspace = await Workspace.open({ sandbox: { leads: 3 }, connection: { fields } });
    writeFileSync(workspace.sheet.path, content);
    const { code } = await workspace.cli('sync');
    expect(code).toBe(0);
    expect(workspace.sheet.rows()).toHaveLength(3);
  },
);

test('a note below the table is no lead, also when rows are added; a new row apart from it is told', async () => {
  await using workspace = await inStep(3);
  const { path } = workspace.sheet;
  const table = readFileSync(path, 'utf8');
  const note = ',,Stand: gestern,\r\n';
  writeFileSync(path, `${table},,,\r\n${note}`);
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: { leads: 0 }, problems: [] });

  workspace.sandbox.leads.add({ companyName: 'Later', city: 'Linz', stage: 'new' });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: { leads: 0, rows: 1 } });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: { leads: 0, rows: 0 } });
  expect(workspace.sandbox.leads.list()).toHaveLength(4);

  const now = readFileSync(path, 'utf8').replace(note, ',New AG,Ulm,\r\n');
  writeFileSync(path, now);
  expect(await workspace.sync()).toMatchObject({
    status: 'partial',
    created: { leads: 0 },
    problems: [{ code: 'row.apart', row: 7 }],
  });
  expect(readFileSync(path, 'utf8')).toBe(now);
  writeFileSync(path, now.replace(',,,\r\n', ''));
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: { leads: 1 } });
});
