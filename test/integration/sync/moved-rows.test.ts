import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import { expect, test } from 'vitest';
import type { SyncReport } from '../../../src/sync/report.ts';
import { Sheet } from '../../support/sheet.ts';
import { Workspace } from '../../support/workspace.ts';

const sheetPart = 'xl/worksheets/sheet1.xml';

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

const untouched = {
  created: { leads: 0, rows: 0 },
  updated: { leads: 0, rows: 0 },
  deleted: { leads: 0, rows: 0 },
};
const moved = (leadId: string, ...texts: readonly string[]) => ({
  ...untouched,
  status: 'partial',
  problems: [
    {
      code: 'row.moved',
      leadId,
      message: expect.stringMatching(
        new RegExp(texts.map((text) => `(?=.*${text})`).join(''), 's'),
      ) as unknown,
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

test('the row of a lead that went into the other list is moved back by mistake (delete-lead): nothing is deleted', async () => {
  const { here, sync, id, cut, paste, removePasted, putBack } = await twoTables('delete-lead');
  await using _ = here;
  cut();
  paste();
  here.sandbox.leads.edit(id, { stage: 'won' });
  for (const connection of ['main', 'won', 'main', 'won']) await sync(connection);
  removePasted();
  putBack();
  for (let night = 0; night < 4; night++) {
    await sync('main');
    expect(await sync('won')).toMatchObject({ status: night === 0 ? 'succeeded' : 'partial', ...untouched });
  }
  expect(await sync('main')).toMatchObject(moved(id, 'row 5', 'connection won'));
  expect(await sync('won')).toMatchObject(moved(id, 'connection main', 'row 5'));
  expect(here.sandbox.leads.size).toBe(8);
});

test('xlsx: a row is cut and pasted into another workbook (delete-lead): held on both sides, and nothing is deleted', async () => {
  const settings = (stage: string, path: string) => ({
    leads: { query: { stage } },
    target: { path },
    sync: { onRowDeleted: 'delete-lead' },
  });
  await using here = await Workspace.open({
    connection: settings('new', './new.xlsx'),
    others: { won: settings('won', './won.xlsx') },
  });
  for (const stage of ['new', 'won'])
    for (let nth = 0; nth < 4; nth++)
      here.sandbox.leads.add({ companyName: `${stage} ${nth}`, city: 'Ulm', stage });
  for (const connection of ['main', 'won']) await here.sync({ connection });
  const change = (name: string, edit: (sheet: string) => string): void => {
    const path = join(here.folder, name);
    const parts = unzipSync(readFileSync(path));
    parts[sheetPart] = strToU8(edit(strFromU8(parts[sheetPart] ?? new Uint8Array())));
    writeFileSync(path, zipSync(parts));
  };
  let cut = '';
  change('new.xlsx', (sheet) =>
    sheet.replace(/<row r="3".*?<\/row>/s, (row) => {
      cut = row;
      return '';
    }),
  );
  const pasted = cut.replaceAll(/ r="([A-Z]*)3"/g, ' r="$16"');
  change('won.xlsx', (sheet) => sheet.replace('</sheetData>', `${pasted}</sheetData>`));
  const id = here.sandbox.leads.list()[1]?.id ?? '';
  await here.sync();
  for (let night = 0; night < 3; night++) {
    expect(await here.sync({ connection: 'won' })).toMatchObject(
      moved(id, 'row 6', 'connection main', 'new\\.xlsx'),
    );
    expect(await here.sync()).toMatchObject(moved(id, 'connection won', 'won\\.xlsx', 'row 6'));
  }
  expect(here.sandbox.leads.size).toBe(8);
});

test('three rows change places between two tables: each is held, no id is unknown', async () => {
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

test.each([
  { id: '018f0000-0000-7000-8000-000000000018', key: 'another', code: 'row.moved' },
  { id: '18', key: 'another', code: 'row.orphan' },
  { id: '18', key: 'the same', code: 'row.moved' },
])('a row with the id $id, which a connection with $key key keeps: $code', async ({ id, key, code }) => {
  const isOther = key === 'another';
  await using here = await Workspace.open({
    sandbox: { leads: 3 },
    others: { won: { leads: isOther ? { apiKey: '${OTHER_KEY}' } : {} } },
    env: { OTHER_KEY: 'key-of-another-account' },
  });
  here.sandbox.leads.add({ id, companyName: 'Echo' });
  await here.sync();
  if (isOther) here.sandbox.set({ apiKey: 'key-of-another-account' });
  here.sandbox.leads.remove(id);
  await here.sync({ connection: 'won' });
  here.sheetOf('won').add({ 'Lead ID': id, Company: 'Foxtrot' });
  expect(await here.sync({ connection: 'won' })).toMatchObject({
    ...untouched,
    problems: [{ code, leadId: id }],
  });
});

test('the commands say it, and forgetting a connection that is no longer used frees the lead', async () => {
  const { here, cut, paste } = await twoTables('delete-lead');
  await using _ = here;
  cut();
  paste();
  expect(await here.cli('sync', '--connection', 'won')).toMatchObject({ code: 3 });
  const { code, stdout } = await here.cli('sync', '--connection', 'main');
  expect({ code, stdout }).toMatchObject({
    code: 3,
    stdout: expect.stringContaining('[row.moved]') as unknown,
  });
  expect(stdout).toContain('leadsync sync --connection won');
  expect((await here.cli('conflicts')).stdout).toMatch(/new 1, main[^]*new 1, row 6, won/);
  const yaml = join(here.folder, 'leadsync.yaml');
  const { connections } = JSON.parse(readFileSync(yaml, 'utf8')) as { connections: { main: object } };
  writeFileSync(yaml, JSON.stringify({ connections: { main: connections.main } }));
  expect(await here.cli('forget', 'won', '--yes')).toMatchObject({ code: 0 });
  await here.sync();
  expect(await here.sync()).toMatchObject({ deleted: { leads: 1 } });
});
