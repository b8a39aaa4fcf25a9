import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import { expect, test, vi } from 'vitest';
import { startSheetsSandbox } from '../../stand-ins/google-sheets/sheets-sandbox.ts';
import { oneObject } from '../../support/cli.ts';
import { Workspace } from '../../support/workspace.ts';

vi.setConfig({ testTimeout: 120_000 });

/** Another content for a column, from its second row on. */
type Change = (cells: readonly string[]) => readonly string[];

/** "Delete cells, shift up" (`by` above 0), or "insert cells, shift down". */
const shift =
  (from: number, by: number): Change =>
  (cells) => {
    const none = Array.from({ length: Math.abs(by) }, () => '');
    const part = cells.slice(from);
    const moved = by > 0 ? [...part.slice(by), ...none] : [...none, ...part.slice(0, by)];
    return [...cells.slice(0, from), ...moved];
  };

function changeGrid(grid: readonly string[][], heading: string, change: Change): string[][] {
  const [head = [], ...rows] = grid;
  const at = head.indexOf(heading);
  const cells = change(rows.map((row) => row[at] ?? ''));
  return [head, ...rows.map((row, nth) => row.with(at, cells[nth] ?? ''))];
}

/** A table of 60 leads in step, as a person has it open. */
interface Kind extends AsyncDisposable {
  readonly workspace: Workspace;
  /** Returns what undoes it. */
  readonly change: (heading: string, change: Change) => () => void;
}

const cities = ['Berlin', 'Berlin', 'Köln', 'Berlin', 'Ulm', 'Köln', 'Köln', 'Bonn', 'Berlin', 'Ulm', 'Bonn'];

/** No other guard counts. */
const sync = { limits: { maxChanges: '100%' } };

async function inStep(workspace: Workspace): Promise<void> {
  for (let nth = 0; nth < 60; nth++) {
    const city = cities[nth % cities.length] ?? '';
    workspace.sandbox.leads.add({ companyName: `Company ${nth}`, city, stage: nth % 2 ? 'won' : 'new' });
  }
  expect(await workspace.sync()).toMatchObject({ created: { leads: 0, rows: 60 } });
}

async function csv(): Promise<Kind> {
  const workspace = await Workspace.open({ connection: { sync } });
  await inStep(workspace);
  return {
    workspace,
    change: (heading, change) => {
      const grid = workspace.sheet.grid();
      workspace.sheet.write(changeGrid(grid, heading, change));
      return () => workspace.sheet.write(grid);
    },
    [Symbol.asyncDispose]: () => workspace[Symbol.asyncDispose](),
  };
}

async function xlsx(): Promise<Kind> {
  const workspace = await Workspace.open({ connection: { sync, target: { path: './leads.xlsx' } } });
  await inStep(workspace);
  const [path, part] = [join(workspace.folder, 'leads.xlsx'), 'xl/worksheets/sheet1.xml'];
  const columns = ['Lead ID', 'Company', 'Segment', 'City'];
  return {
    workspace,
    change: (heading, change) => {
      const kept = readFileSync(path);
      const parts = unzipSync(kept);
      const letter = 'ABCD'[columns.indexOf(heading)];
      const cell = new RegExp(`<c r="${letter}(\\d+)"([^>]*)>(.*?)</c>`, 'g');
      const sheet = strFromU8(parts[part] ?? new Uint8Array());
      const shown = [...sheet.matchAll(cell)].slice(1).map(([, , , inner = '']) => inner);
      const changed = change(shown);
      expect(shown).toHaveLength(60);
      const edited = sheet.replaceAll(cell, (was, row: string, more: string) => {
        const inner = row === '1' ? null : changed[Number(row) - 2];
        if (inner === null) return was;
        return inner ? `<c r="${letter}${row}"${more}>${inner}</c>` : `<c r="${letter}${row}"/>`;
      });
      writeFileSync(path, zipSync({ ...parts, [part]: strToU8(edited) }));
      return () => writeFileSync(path, kept);
    },
    [Symbol.asyncDispose]: () => workspace[Symbol.asyncDispose](),
  };
}

async function googleSheets(): Promise<Kind> {
  const sheets = await startSheetsSandbox({ quotas: null });
  const workspace = await Workspace.open({
    connection: {
      sync,
      target: { type: 'google-sheets', spreadsheet: sheets.spreadsheetId, path: undefined },
    },
    env: { GOOGLE_SHEETS_URL: sheets.url },
  });
  writeFileSync(join(workspace.folder, 'key.json'), sheets.keyFile());
  Object.assign(workspace.env, { GOOGLE_APPLICATION_CREDENTIALS: join(workspace.folder, 'key.json') });
  await inStep(workspace);
  return {
    workspace,
    change: (heading, change) => {
      const grid = sheets.person.grid('Leads') ?? [];
      const put = (cells: string[][]) => sheets.person.put('Leads', cells, { typeDates: true });
      put(changeGrid(grid, heading, change));
      return () => put(grid);
    },
    [Symbol.asyncDispose]: async () => {
      await workspace[Symbol.asyncDispose]();
      await sheets[Symbol.asyncDispose]();
    },
  };
}

const kinds = { csv, xlsx, 'google-sheets': googleSheets };
const cityUp = 'in the column "City", ';

test.each(Object.entries(kinds))(
  '%s: cells deleted and shifted up: 4, nothing is written, the column and the rows are named; undone it goes on',
  async (_, open) => {
    await using kind = await open();
    const { workspace } = kind;
    const before = workspace.sandbox.leads.list();
    const undo = kind.change('City', shift(20, 1));
    const plan = await workspace.cli('plan', '--json');
    expect(plan.code).toBe(4);
    expect(oneObject(plan)).toMatchObject({ guard: { ok: false, refusals: [{ code: 'rows-shuffled' }] } });
    const stopped = await workspace.cli('sync');
    expect(stopped.code).toBe(4);
    expect(stopped.stdout).toContain(cityUp);
    expect(stopped.stdout).toContain('32 of the rows 22 to 60 show what the row below had');
    expect(stopped.stdout).toContain('--allow rows-shuffled');
    expect(workspace.sandbox.leads.list()).toEqual(before);

    undo();
    expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 0, rows: 0 } });
    expect(workspace.sandbox.leads.list()).toEqual(before);
  },
);

test.each<[string, (kind: Kind) => void, string]>([
  [
    'inserted, shifted down by two',
    ({ change }) => void change('City', shift(10, -2)),
    'show what the row 2 above had',
  ],
  ['names, up', ({ change }) => void change('Company', shift(9, 1)), 'in the column "Company", '],
  [
    'a block of two columns',
    ({ change }) => {
      change('Company', shift(30, 1));
      change('City', shift(30, 1));
    },
    'the row below had; in the column "City", ',
  ],
  [
    'up, and then the table was sorted as a whole',
    ({ change, workspace: { sheet } }) => {
      change('City', shift(20, 1));
      const [head = [], ...rows] = sheet.grid();
      const at = head.indexOf('Company');
      sheet.write([head, ...rows.toSorted((a, b) => (a[at] ?? '').localeCompare(b[at] ?? ''))]);
    },
    cityUp,
  ],
  [
    'up, and then rows were added and deleted',
    ({ change, workspace: { sheet } }) => {
      change('City', shift(20, 1));
      const [head = [], ...rows] = sheet.grid();
      const added = head.map((heading) => (heading === 'Company' ? 'Added' : ''));
      sheet.write([head, ...rows.toSpliced(40, 1).toSpliced(30, 0, added)]);
    },
    cityUp,
  ],
  [
    'up, while leads changed as well',
    ({ change, workspace: { sandbox } }) => {
      change('City', shift(20, 1));
      for (const { id } of sandbox.leads.list().filter((_, nth) => nth % 4 === 0))
        sandbox.leads.edit(id, { city: 'Graz' });
    },
    cityUp,
  ],
])('csv, cells %s: stopped', async (_, edit, told) => {
  await using kind = await csv();
  edit(kind);
  const before = kind.workspace.sandbox.leads.list();
  const stopped = await kind.workspace.sync();
  expect(stopped).toMatchObject({ status: 'stopped', updated: { leads: 0, rows: 0 } });
  expect(stopped.problems).toMatchObject([
    { code: 'guard.rows-shuffled', message: expect.stringContaining(told) },
  ]);
  expect(kind.workspace.sandbox.leads.list()).toEqual(before);
});

test.each<[string, string, Change]>([
  ['one town replaced', 'City', (cells) => cells.map((city) => (city === 'Berlin' ? 'Köln' : city))],
  ['30 new values', 'City', (cells) => cells.map((city, nth) => (nth < 30 ? `New ${nth}` : city))],
  ['a value copied down 15 rows', 'City', (cells) => cells.map((city, nth) => (nth < 15 ? 'Berlin' : city))],
  ['40 stages set to one', 'Stage', (cells) => cells.map((stage, nth) => (nth < 40 ? 'won' : stage))],
])('csv, an honest edit, %s: carried out', async (_, heading, change) => {
  await using kind = await csv();
  kind.change(heading, change);
  expect(await kind.workspace.sync()).toMatchObject({ status: 'succeeded', updated: { rows: 0 } });
});

test('csv: a shift that a person has allowed is carried out', async () => {
  await using kind = await csv();
  kind.change('City', shift(20, 1));
  const allowed = await kind.workspace.sync({ allow: ['rows-shuffled'] });
  expect(allowed).toMatchObject({ status: 'succeeded', updated: { leads: 33, rows: 0 } });
});
