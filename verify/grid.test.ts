/** A table that people edit in a real program: what they type is read, and what leadsync writes is shown there, value by value. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secret } from '../src/config/secret.ts';
import type { FieldMapping } from '../src/core/lead/mapping.ts';
import type { Values } from '../src/core/lead/value.ts';
import type { RowOutcome } from '../src/ports/target.ts';
import { createPostgresTableTarget } from '../src/targets/postgres/postgres-table-target.ts';
import { append, never, readAll, remove, update } from '../test/contract/target-harness.ts';
import { administrate } from '../test/support/administrate.ts';
import { startTestPostgres } from '../test/support/test-postgres.ts';
import { type Column, type Grid, grids, type Typed } from './grids.ts';

const { env } = process;
const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());
let grid: Grid;
beforeAll(async () => {
  const home = await mkdtemp(join(tmpdir(), 'leadsync-grid-'));
  stack.defer(() => rm(home, { recursive: true, force: true }));
  // Postgres may run as another user.
  await chmod(home, 0o755);
  const server = await startTestPostgres(home);
  stack.defer(() => server.close());
  const database = async (name: string) => {
    await administrate(server.connectionString, `create database ${name} template template0`);
    return Object.assign(new URL(server.connectionString), { pathname: `/${name}` }).href;
  };
  grid = await grids[env['VERIFY_GRID'] === 'nocodb' ? 'nocodb' : 'directus']({
    home,
    database,
    stack,
  });
});

const mapped = ['company', 'region', 'stage', 'due', 'headcount', 'revenue', 'key_account'] as const;
const target = () =>
  createPostgresTableTarget({
    url: new Secret(grid.url),
    table: grid.table,
    idColumn: grid.columnOf('lead_id'),
    statusColumn: grid.columnOf('status'),
    timeZone: 'UTC',
    isZoneSet: true,
    fields: mapped.map((field): FieldMapping => {
      const type = field === 'due' ? 'instant' : 'text';
      return { field, column: grid.columnOf(field), type, direction: 'two-way' };
    }),
  });

/** One text for one meaning: decimals are numbers to some and texts to others. */
function textOf(column: Column, value: Typed[Column]): string | null {
  if (value === null || value === undefined || value === '') return null;
  if (column === 'due') return new Date(String(value)).toISOString();
  return ['revenue', 'headcount'].includes(column) ? String(Number(value)) : `${value}`;
}
const meaning = (row: Typed): Values =>
  Object.fromEntries(mapped.map((column) => [column, textOf(column, row[column])]));
const told = (outcomes: readonly RowOutcome[]) => outcomes.map(({ status }) => status);

const full = {
  stage: 'won',
  due: '2027-03-28T01:59:00+01:00',
  headcount: 2_000_000_000,
  revenue: -0.01,
  key_account: true,
};
const rows: readonly Typed[] = [
  {
    ...full,
    company: '=HYPERLINK("http://example.com";"x")',
    region: 'first line\nsecond line\r\nthird\ttab',
  },
  {
    ...full,
    company: '+49 40 1234',
    due: '2027-10-31T02:30:00+02:00',
    region: `${'long text äöü '.repeat(714)}end.`,
  },
  {
    ...full,
    company: 'emoji 👩🏽‍🚀 and 北京 and שלום',
    due: '2027-10-31T02:30:00+01:00',
    headcount: 0,
    revenue: 1234.5,
  },
  {
    ...full,
    company: "Robert'); drop table leads;-- \\N",
    key_account: false,
    due: '2026-12-24T19:00:00-05:00',
  },
  { company: '00123', region: '', stage: null, due: null, headcount: null, revenue: null },
];

test('what people type is read as they meant it, also after they cleared it', async () => {
  await grid.add(rows);
  const read = async () => (await readAll(target())).map(({ cells }) => meaning(cells as Typed));
  const flagless = (row: Values): Values => ({
    ...row,
    key_account: row['key_account'] === 'true' ? 'true' : null,
  });
  expect((await read()).map(flagless)).toEqual(rows.map(meaning).map(flagless));
  const [first] = await grid.list();
  await grid.edit(first?.key ?? 0, { stage: null, due: null, headcount: null, region: '' });
  expect((await read()).map(flagless)).toContainEqual(
    flagless(meaning({ ...rows[0], stage: null, due: null, headcount: null, region: '' })),
  );
});

test('what leadsync writes is shown in the program as it was written', async () => {
  const values = rows.map((row) => ({ ...meaning(row), company: `new ${String(row.company)}` }));
  expect(
    told(
      await target().write(
        values.map((row, nth) => append(`id-${nth}`, row)),
        never(),
      ),
    ),
  ).toEqual(values.map(() => 'done'));
  const change = {
    company: 'Changed',
    due: '2027-07-01T00:00:00.000Z',
    revenue: '77.25',
    key_account: 'true',
  };
  const changed = await target().write(
    [update('id-1', values[1] ?? {}, change), remove('id-2', values[2] ?? {})],
    never(),
  );
  expect(told(changed)).toEqual(['done', 'done']);
  const shown = (await grid.list()).filter(({ lead_id: id }) => typeof id === 'string' && id !== '');
  const expected = [values[0], { ...values[1], ...change }, values[3], values[4]];
  expect(shown.map(({ lead_id: id }) => id)).toEqual(['id-0', 'id-1', 'id-3', 'id-4']);
  // A check box that nobody set is off in one program, and empty in the other.
  const set = ({ key_account: flag, ...row }: Values): Values => ({
    ...row,
    isKey: flag === 'true' ? flag : null,
  });
  expect(shown.map(meaning).map(set)).toEqual(expected.map((row) => set({ ...row })));
});

test('a row that is copied with its id is refused by the unique column', async () => {
  await expect(grid.add([{ lead_id: 'id-0', company: 'A copy' }])).rejects.toThrow('answered');
});
