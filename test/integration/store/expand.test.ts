import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../../src/store/migrate.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

/** The last migration of the last release: what it and those before it made is what that release relies on. */
const lastRelease = '001-baseline.sql';

const own = new URL('../../../src/store/migrations/', import.meta.url);
let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  database = await createTestDatabase({ empty: true });
  folder = await mkdtemp(join(tmpdir(), 'leadsync-migrations-'));
  for (const name of await readdir(own))
    if (name <= lastRelease) await copyFile(new URL(name, own), join(folder, name));
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

/** All that a statement of the last release may run into, a line each. */
async function schema(): Promise<{ readonly there: string[]; readonly refusing: string[] }> {
  const lines = async (sql: string): Promise<string[]> =>
    (await database.pool.query<{ line: string }>(sql)).rows.map(({ line }) => line);
  return {
    there: await lines(
      `select format('column %s.%s %s', table_name, column_name, data_type) as line
       from information_schema.columns where table_schema = 'leadsync'
       union all select 'index ' || indexdef from pg_indexes where schemaname = 'leadsync' order by 1`,
    ),
    refusing: await lines(
      `select format('not null %s.%s', table_name, column_name) as line from information_schema.columns
       where table_schema = 'leadsync' and is_nullable = 'NO' and column_default is null and is_identity = 'NO'
       union all select format('%s %s', conrelid::regclass, pg_get_constraintdef(oid)) from pg_constraint
         where connamespace = 'leadsync'::regnamespace and contype in ('c', 'f', 'u', 'x')
       union all select indexdef from pg_indexes where schemaname = 'leadsync' and indexdef like 'CREATE UNIQUE%'
       union all select format('trigger %s', tgrelid::regclass) from pg_trigger where not tgisinternal order by 1`,
    ),
  };
}

test('migrations since the last release only add, so that both versions work on one database, and the last one can come back', async () => {
  await migrate(database.pool, folder);
  const before = await schema();
  const { rows: tables } = await database.pool.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'leadsync'`,
  );
  const added = await migrate(database.pool);
  const after = await schema();
  expect(before.there.filter((line) => !after.there.includes(line))).toEqual([]);
  const isOnOldTable = (line: string): boolean =>
    tables.some(({ name }) => new RegExp(`(?:^|[ .])${name}(?:[ .]|$)`).test(line));
  expect(after.refusing.filter((line) => isOnOldTable(line) && !before.refusing.includes(line))).toEqual([]);

  // The way back, and forward again.
  if (added.length > 0)
    await expect(migrate(database.pool, folder)).rejects.toMatchObject({ code: 'database.newer-schema' });
  await database.pool.query('delete from migrations where name = any($1)', [added]);
  expect(await migrate(database.pool, folder)).toEqual([]);
  expect(await migrate(database.pool)).toEqual(added);
  expect(await schema()).toEqual(after);
});
