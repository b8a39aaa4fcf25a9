/** A table that people edit in a real program: what they type is read, and what leadsync writes is shown there, value by value. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secret } from '../src/config/secret.ts';
import type { FieldMapping } from '../src/core/lead/mapping.ts';
import type { Values } from '../src/core/lead/value.ts';
import { createPostgresTableTarget } from '../src/targets/postgres/postgres-table-target.ts';
import { append, never, readAll, remove, update } from '../test/contract/target-harness.ts';
import { administrate } from '../test/support/administrate.ts';
import { startTestPostgres } from '../test/support/test-postgres.ts';
import { type Column, type Grid, grids, type Typed } from './grids.ts';

const { env } = process;
const name = env['VERIFY_GRID'] === 'nocodb' ? 'nocodb' : 'directus';
const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());
let grid: Grid;
let url: string;
beforeAll(async () => {
  const home = await mkdtemp(join(tmpdir(), 'leadsync-grid-'));
  stack.defer(() => rm(home, { recursive: true, force: true }));
  // Postgres may run as another user.
  await chmod(home, 0o755);
  const server = await startTestPostgres(home);
  stack.defer(() => server.close());
  await administrate(server.connectionString, `create database ${name} template template0`);
  const database = Object.assign(new URL(server.connectionString), { pathname: `/${name}` });
  url = database.href;
  grid = await grids[name]({ home, database, stack });
});

const mapped = ['company', 'region', 'stage', 'due', 'headcount', 'revenue', 'key_account'] as const;
const typeOf = (field: Column) => (field === 'due' ? 'instant' : 'text');
const target = () =>
  createPostgresTableTarget({
    url: new Secret(url),
    table: grid.table,
    idColumn: 'lead_id',
    statusColumn: 'status',
    timeZone: 'UTC',
    isZoneSet: true,
    fields: mapped.map(
      (field): FieldMapping => ({ field, column: field, type: typeOf(field), direction: 'two-way' }),
    ),
  });

/** One text for one meaning: decimals are numbers to some and texts to others; a check box that nobody set is off, or empty. */
function textOf(column: Column, value: Typed[Column]): string | null {
  if (value === null || value === undefined || value === '') return null;
  if (column === 'key_account') return `${value}` === 'true' ? 'true' : null;
  if (column === 'due') return new Date(String(value)).toISOString();
  return ['revenue', 'headcount'].includes(column) ? String(Number(value)) : `${value}`;
}
const meaning = (row: object): Values =>
  Object.fromEntries(mapped.map((column) => [column, textOf(column, (row as Typed)[column])]));

const usual = { stage: 'won', headcount: 2_000_000_000, revenue: -0.01, key_account: true };
const rows: readonly Typed[] = [
  { company: '=HYPERLINK("http://example.com";"x")', region: 'first line\nsecond line\r\nthird\ttab' },
  { company: '+49 40 1234', due: '2027-10-31T02:30:00+02:00', region: `${'long text äöü '.repeat(714)}end.` },
  { company: '👩🏽‍🚀 and 北京 and שלום', due: '2027-10-31T02:30:00+01:00', headcount: 0, revenue: 1234.5 },
  { company: "Robert'); drop table leads;-- \\N", due: '2026-12-24T19:00:00-05:00', key_account: false },
  { company: '00123', region: '', stage: null, due: null, headcount: null, revenue: null },
].map((row) => ({ ...usual, due: '2027-03-28T01:59:00+01:00', ...row }));

test('what people type is read as they meant it, also after they cleared it', async () => {
  await grid.add(rows);
  const read = async () => (await readAll(target())).map(({ cells }) => meaning(cells));
  expect(await read()).toEqual(rows.map(meaning));
  const [first] = await grid.list();
  const cleared = { stage: null, due: null, headcount: null, region: '' };
  await grid.edit(first?.id ?? 0, cleared);
  expect(await read()).toContainEqual(meaning({ ...rows[0], ...cleared }));
});

test('what leadsync writes is shown in the program as it was written', async () => {
  const values = rows.map((row) => {
    const flag = row.key_account === true ? 'true' : 'false';
    return { ...meaning(row), key_account: flag, company: `new ${String(row.company)}` };
  });
  const write = async (...changes: Parameters<ReturnType<typeof target>['write']>[0]) =>
    (await target().write(changes, never())).map(({ status }) => status);
  const added = values.map((row, nth) => append(`id-${nth}`, row));
  expect(await write(...added)).toEqual(values.map(() => 'done'));
  const due = '2027-07-01T00:00:00.000Z';
  const change = { company: 'Changed', due, revenue: '77.25', key_account: 'true' };
  const changes = [update('id-1', values[1] ?? {}, change), remove('id-2', values[2] ?? {})];
  expect(await write(...changes)).toEqual(['done', 'done']);
  const shown = (await grid.list()).filter(({ lead_id: id }) => typeof id === 'string' && id !== '');
  expect(shown.map(({ lead_id: id }) => id)).toEqual(['id-0', 'id-1', 'id-3', 'id-4']);
  const expected = [values[0], { ...values[1], ...change }, values[3], values[4]];
  expect(shown.map(meaning)).toEqual(expected.map((row) => meaning(row ?? {})));
});

test('a row that is copied with its id is refused by the unique column', async () => {
  await expect(grid.add([{ lead_id: 'id-0', company: 'A copy' }])).rejects.toThrow('answered');
});
