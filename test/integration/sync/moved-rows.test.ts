import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SyncReport } from '../../../src/sync/report.ts';
import { Sheet } from '../../support/sheet.ts';
import { Workspace } from '../../support/workspace.ts';

/** Two tables of one service, each with the leads of one stage: `main` the new ones, `won` the others. */
async function twoTables(onRowDeleted: 'restore' | 'delete-lead' | 'ignore', query = true) {
  const settings = (stage: string) => ({
    leads: { query: query ? { stage } : {} },
    fields: { companyName: 'Company', city: 'City' },
    sync: { onRowDeleted },
  });
  const here = await Workspace.open({ connection: settings('new'), others: { won: settings('won') } });
  for (const stage of ['new', 'won'])
    for (let nth = 0; nth < 4; nth++)
      here.sandbox.leads.add({ companyName: `${stage} ${nth}`, city: 'Ulm', stage });
  const sync = (connection: string): Promise<SyncReport> => here.sync({ connection });
  const won = new Sheet(join(here.folder, 'won.csv'));
  await sync('main');
  await sync('won');
  const moved = here.sheet.rows()[1] ?? {};
  const cut = (): void => here.sheet.remove((row) => row['Lead ID'] === moved['Lead ID']);
  const paste = (): void => won.add(moved);
  const removePasted = (): void => won.remove((row) => row['Lead ID'] === moved['Lead ID']);
  const putBack = (): void => here.sheet.add(moved);
  return { here, won, sync, id: moved['Lead ID'] ?? '', cut, paste, removePasted, putBack };
}

const untouched = { created: { leads: 0, rows: 0 }, updated: { leads: 0, rows: 0 }, deleted: { leads: 0, rows: 0 } };
const moved = (leadId: string, ...texts: readonly string[]) => ({
  ...untouched,
  status: 'partial',
  problems: [
    {
      code: 'row.moved',
      leadId,
      message: expect.stringMatching(new RegExp(texts.map((text) => `(?=.*${text})`).join(''), 's')) as unknown,
    },
  ],
});

test.each(['restore', 'delete-lead'] as const)(
  'a row is cut and pasted into the table of another connection, which syncs first (%s): held on both sides until it is back',
  async (onRowDeleted) => {
    const { here, sync, id, cut, paste, removePasted, putBack } = await twoTables(onRowDeleted);
    await using _ = here;
    cut();
    paste();
    for (let night = 0; night < 3; night++) {
      expect(await sync('won')).toMatchObject(moved(id, 'row 6', 'connection main', 'leads\\.csv'));
      expect(await sync('main')).toMatchObject(moved(id, 'connection won', 'won\\.csv', 'row 6'));
    }
    expect(here.sandbox.leads.size).toBe(8);
    removePasted();
    putBack();
    for (const connection of ['main', 'won', 'main'])
      expect(await sync(connection)).toMatchObject({ status: 'succeeded', ...untouched });
  },
);

test('the table in which it was cut syncs first (delete-lead): nothing is deleted, and a row that is gone everywhere is', async () => {
  const { here, sync, id, cut, paste, removePasted } = await twoTables('delete-lead');
  await using _ = here;
  cut();
  paste();
  const waiting = { ...untouched, problems: [{ code: 'delete.waiting', leadId: id }] };
  // However often it syncs before the other one has looked.
  for (let run = 0; run < 3; run++) expect(await sync('main')).toMatchObject(waiting);
  expect(await sync('won')).toMatchObject(moved(id, 'connection main'));
  for (let run = 0; run < 2; run++) expect(await sync('main')).toMatchObject(moved(id, 'connection won'));
  removePasted();
  expect(await sync('won')).toMatchObject({ status: 'succeeded', ...untouched });
  const runs = [await sync('main'), await sync('won'), await sync('main')];
  expect(runs.map(({ deleted }) => deleted.leads).reduce((sum, one) => sum + one)).toBe(1);
});

test('it syncs first (restore): the row is written again, and the other one is held as a second row of it', async () => {
  const { here, won, sync, id, cut, paste, removePasted } = await twoTables('restore');
  await using _ = here;
  cut();
  paste();
  expect(await sync('main')).toMatchObject({ created: { leads: 0, rows: 1 }, problems: [] });
  for (let night = 0; night < 2; night++) {
    expect(await sync('won')).toMatchObject(moved(id, 'connection main', 'too'));
    expect(await sync('main')).toMatchObject({ status: 'succeeded', ...untouched });
  }
  won.edit((row) => row['Lead ID'] === id, { City: 'Bonn' });
  expect(await sync('won')).toMatchObject(moved(id, 'connection main'));
  removePasted();
  expect(await sync('won')).toMatchObject({ status: 'succeeded', ...untouched });
  expect(here.sandbox.leads.size).toBe(8);
});

test('the lead follows its row into the other list: both go on by themselves', async () => {
  const { here, sync, id, cut, paste } = await twoTables('delete-lead');
  await using _ = here;
  cut();
  paste();
  expect(await sync('won')).toMatchObject(moved(id, 'connection main'));
  expect(await sync('main')).toMatchObject(moved(id, 'connection won'));
  here.sandbox.leads.edit(id, { stage: 'won' });
  for (const connection of ['won', 'main', 'won', 'main'])
    expect(await sync(connection)).toMatchObject({ status: 'succeeded', deleted: { leads: 0, rows: 0 } });
  expect(here.sandbox.leads.size).toBe(8);
});

test('ten rows change places between two tables: each is held, no id is unknown', async () => {
  const { here, won, sync } = await twoTables('restore');
  await using _ = here;
  const [mine, others] = [here.sheet.grid(), won.grid()];
  here.sheet.write([...mine.slice(0, 2), ...others.slice(2)]);
  won.write([...others.slice(0, 2), ...mine.slice(2)]);
  await sync('main');
  await sync('won');
  for (const connection of ['main', 'won']) {
    const report = await sync(connection);
    expect(new Set(report.problems.map(({ code }) => code))).toEqual(new Set(['row.moved']));
    expect(report).toMatchObject({ created: { leads: 0 }, deleted: { leads: 0, rows: 0 } });
  }
  expect(here.sandbox.leads.size).toBe(8);
});

test.each(['restore', 'delete-lead'] as const)(
  'two connections that both show all leads (%s): a row that is gone from one table is no moved row',
  async (onRowDeleted) => {
    const { here, sync, cut } = await twoTables(onRowDeleted, false);
    await using _ = here;
    cut();
    const runs = [await sync('main'), await sync('main')];
    expect(runs.map(({ created, deleted }) => [created.rows, deleted.leads])).toEqual(
      onRowDeleted === 'restore'
        ? [
            [1, 0],
            [0, 0],
          ]
        : [
            [0, 0],
            [0, 1],
          ],
    );
  },
);

test('the commands say it, and forgetting a connection that is no longer used frees the lead', async () => {
  const { here, id, cut, paste } = await twoTables('delete-lead');
  await using _ = here;
  cut();
  paste();
  expect(await here.cli('sync', '--connection', 'won')).toMatchObject({ code: 3 });
  const { code, stdout } = await here.cli('sync', '--connection', 'main');
  expect({ code, stdout }).toMatchObject({ code: 3, stdout: expect.stringContaining('[row.moved]') as unknown });
  expect(stdout).toContain('leadsync sync --connection won');
  expect((await here.cli('conflicts')).stdout).toContain(id);
  const yaml = join(here.folder, 'leadsync.yaml');
  const { connections } = JSON.parse(readFileSync(yaml, 'utf8')) as { connections: { main: object } };
  writeFileSync(yaml, JSON.stringify({ connections: { main: connections.main } }));
  expect(await here.cli('forget', 'won', '--yes')).toMatchObject({ code: 0 });
  await here.sync();
  expect(await here.sync()).toMatchObject({ deleted: { leads: 1 } });
});
