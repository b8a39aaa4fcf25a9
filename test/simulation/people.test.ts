import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createRandom } from '../../src/demo/random.ts';
import { type Sandbox, startSandbox } from '../../src/demo/sandbox.ts';
import { type Deed, none } from './customs.ts';
import { People } from './people.ts';
import { CsvTable } from './table.ts';

const headings = ['Lead ID', 'Company', 'Segment'];

test('a cell that is put back in the morning is an edit, when its field was emptied in the service meanwhile', async () => {
  const { sandbox, table, people } = await office();
  const { id } = sandbox.leads.add({ companyName: 'n1n Company', segment: 'e2e' });
  await table.write([headings, [id, 'n1n Company', 'e2e']]);
  await people.do(only('short-row'), 'list');
  expect(await table.grid()).toEqual([headings, [id, 'n1n Company']]);
  sandbox.leads.edit(id, { segment: '' });
  await people.putRight();
  expect(await table.grid()).toEqual([headings, [id, 'n1n Company', 'e2e']]);
  expect(people.edits).toMatchObject([
    { side: 'sheet', entity: 'n1n', field: 'segment', value: 'e2e', byDay: false, inGap: false },
  ]);
});

test('what is typed into a row with the id of one company and the name of another is nobody’s last word', async () => {
  const { sandbox, table, people } = await office();
  const { id } = sandbox.leads.add({ companyName: 'n1n Company' });
  await table.write([headings, [id, 'n2n Company', 'e2e']]);
  for (let count = 0; count < 30; count++) await people.do(only('edit-row'), 'list');
  expect(new Set(people.edits.map(({ field }) => field))).not.toContain('companyName');
  expect(people.edits.length).toBeGreaterThan(0);
  expect(people.edits.every(({ inGap }) => inGap)).toBe(true);
});

const only = (deed: Deed) => ({ weights: { ...none, [deed]: 1 } });

async function office(): Promise<{ sandbox: Sandbox; table: CsvTable; people: People }> {
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-people-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const sandbox = await startSandbox({ leads: 0 });
  onTestFinished(() => sandbox.close());
  const table = new CsvTable(join(folder, 'leads.csv'));
  return { sandbox, table, people: new People(createRandom(1, 'people'), sandbox, table, () => undefined) };
}
