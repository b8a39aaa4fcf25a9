import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openDatabase, transaction } from '../../../src/store/database.ts';
import { migrate } from '../../../src/store/migrate.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
let folder: string;

beforeEach(async () => {
  database = await createTestDatabase({ empty: true });
  folder = await mkdtemp(join(tmpdir(), 'leadsync-migrations-'));
});

afterEach(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

async function file(name: string, sql: string): Promise<void> {
  await writeFile(join(folder, name), sql);
}

async function tables(): Promise<string[]> {
  const { rows } = await database.pool.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'leadsync' and tablename <> 'migrations' order by 1`,
  );
  return rows.map(({ name }) => name);
}

async function notes(): Promise<unknown[]> {
  return (await database.pool.query('select text from notes')).rows;
}

describe('migrate', () => {
  test('runs the files in the order of their names, into the schema leadsync, once', async () => {
    await file('002-second.sql', 'alter table first rename to renamed; create table second ();');
    await file('001-first.sql', 'create table first ();');
    expect(await migrate(database.pool, folder)).toEqual(['001-first.sql', '002-second.sql']);
    expect(await tables()).toEqual(['renamed', 'second']);

    await file('003-third.sql', 'create table third ()');
    expect(await migrate(database.pool, folder)).toEqual(['003-third.sql']);
    expect(await migrate(database.pool, folder)).toEqual([]);
  });

  test("leadsync's own migrations run on an empty database, and there is nothing left to do after them", async () => {
    expect(await migrate(database.pool)).not.toEqual([]);
    expect(await migrate(database.pool)).toEqual([]);
  });

  test('processes that start at once all succeed, and each file runs once', async () => {
    await file('001-first.sql', 'create table first (); select pg_sleep(0.2)');
    await file('002-second.sql', 'create table second ()');
    const pools = Array.from({ length: 4 }, () => openDatabase({ connectionString: database.url }));
    try {
      const ran = await Promise.all(pools.map((pool) => migrate(pool, folder)));
      expect(ran.flat().toSorted()).toEqual(['001-first.sql', '002-second.sql']);
      expect(await tables()).toEqual(['first', 'second']);
    } finally {
      await Promise.all(pools.map((pool) => pool.end()));
    }
  });

  test('a file that fails is rolled back as a whole, those before it stay, and the next start goes on', async () => {
    await file('001-first.sql', 'create table first ()');
    await file('002-second.sql', 'create table second (); select 1/0');
    await file('003-third.sql', 'create table third ()');
    await expect(migrate(database.pool, folder)).rejects.toMatchObject({
      code: 'database.migration-failed',
      retry: 'never',
      message: expect.stringContaining('002-second.sql'),
    });
    expect(await tables()).toEqual(['first']);

    await file('002-second.sql', 'create table second ()');
    expect(await migrate(database.pool, folder)).toEqual(['002-second.sql', '003-third.sql']);
  });

  test('a file that has run and is another one now is refused, and nothing is done', async () => {
    await file('001-first.sql', 'create table first ();\n');
    await migrate(database.pool, folder);
    await file('001-first.sql', 'create table other ();\n');
    await file('002-second.sql', 'create table second ()');
    await expect(migrate(database.pool, folder)).rejects.toMatchObject({
      code: 'database.migration-changed',
      message: expect.stringContaining('001-first.sql'),
    });
    expect(await tables()).toEqual(['first']);

    await file('001-first.sql', 'create table first ();\r\n');
    expect(await migrate(database.pool, folder)).toEqual(['002-second.sql']);
  });

  test('a database that is newer than the code is refused, and nothing is done', async () => {
    await file('001-first.sql', 'create table first ()');
    await file('002-second.sql', 'create table second ()');
    await migrate(database.pool, folder);
    await rename(join(folder, '002-second.sql'), join(folder, '002-second.sql.away'));
    await file('0015-between.sql', 'create table between_ ()');
    await expect(migrate(database.pool, folder)).rejects.toMatchObject({
      code: 'database.newer-schema',
      message: expect.stringContaining('002-second.sql'),
    });
    expect(await tables()).toEqual(['first', 'second']);
  });

  test('a user who may not create schemas can use one that an administrator made', async () => {
    const user = `limited_${database.url.slice(-16)}`;
    await database.pool.query(
      `create role ${user} login password 'pw'; create schema leadsync authorization ${user}`,
    );
    const url = new URL(database.url);
    url.username = user;
    url.password = 'pw';
    const pool = openDatabase({ connectionString: url.href });
    try {
      await file('001-first.sql', 'create table first ()');
      expect(await migrate(pool, folder)).toEqual(['001-first.sql']);
    } finally {
      await pool.end();
      await database.pool.query(`drop owned by ${user} cascade; drop role ${user}`);
    }
  });
});

describe('openDatabase', () => {
  test('names mean the schema leadsync; int8 is a number where that is exact', async () => {
    await migrate(database.pool, folder);
    const { rows } = await database.pool.query(
      `select current_schema() as schema, 9007199254740991::int8 as safe, 9007199254740993::int8 as unsafe, count(*) as n
       from migrations`,
    );
    expect(rows).toEqual([{ schema: 'leadsync', safe: 9007199254740991, unsafe: '9007199254740993', n: 0 }]);
  });

  test('a server that is not there is database.unreachable, to be tried again, without the password', async () => {
    const pool = openDatabase({ connectionString: 'postgres://someone:hunter2@127.0.0.1:1/leads' });
    const error: unknown = await pool.query('select 1').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'database.unreachable', retry: 'later' });
    expect(String(error)).toContain('leads at 127.0.0.1:1');
    expect(String(error)).not.toContain('hunter2');
    await expect(pool.connect()).rejects.toMatchObject({ code: 'database.unreachable' });
    await pool.end();
  });

  test('a wrong password is database.unreachable', async () => {
    const url = new URL(database.url);
    url.password = 'hunter2';
    const pool = openDatabase({ connectionString: url.href });
    const error: unknown = await pool.query('select 1').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'database.unreachable', retry: 'later' });
    expect(String(error)).not.toContain('hunter2');
    await pool.end();
  });

  test('a URL that cannot be understood is told at once, without the password', () => {
    const open = openDatabase.bind(null, { connectionString: 'postgres://someone:hunter2@host:port/leads' });
    expect(open).toThrow(expect.objectContaining({ code: 'database.unreachable', retry: 'never' }));
    expect(open).toThrow(expect.not.objectContaining({ message: expect.stringContaining('hunter2') }));
  });

  test('connections that the server ends, idle or checked out, do not end the process; the pool goes on', async () => {
    const held = await database.pool.connect();
    await Promise.all([database.pool.query('select pg_sleep(0.05)'), database.pool.query('select 1')]);
    const lost = new Promise((resolve) => held.once('end', resolve));
    const other = openDatabase({ connectionString: database.url });
    await other.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    await other.end();
    await lost;
    held.release(true);
    await vi.waitFor(() => expect(database.pool.totalCount).toBe(0), { timeout: 30_000, interval: 5 });
    const { rows } = await database.pool.query('select 1 as one');
    expect(rows).toEqual([{ one: 1 }]);
  });

  test('more callers than connections wait their turn', async () => {
    const calls = Array.from({ length: 30 }, () => database.pool.query('select pg_sleep(0.01)'));
    expect(await Promise.all(calls)).toHaveLength(30);
    expect(database.pool.totalCount).toBe(20);
  });
});

describe('transaction', () => {
  beforeEach(async () => {
    await file('001-first.sql', 'create table notes (text text)');
    await migrate(database.pool, folder);
  });

  test('commits and returns the result', async () => {
    const result = await transaction(database.pool, async (client) => {
      await client.query(`insert into notes values ('kept')`);
      return 7;
    });
    expect(result).toBe(7);
    expect(await notes()).toEqual([{ text: 'kept' }]);
  });

  test('rolls back and passes on what was thrown', async () => {
    const fault = new Error('no');
    const attempt = transaction(database.pool, async (client) => {
      await client.query(`insert into notes values ('lost')`);
      throw fault;
    });
    await expect(attempt).rejects.toBe(fault);
    expect(await notes()).toEqual([]);
    expect(database.pool.idleCount).toBe(database.pool.totalCount);
  });

  test('a failed statement that was swallowed is no success', async () => {
    const attempt = transaction(database.pool, async (client) => {
      await client.query(`insert into notes values ('lost')`);
      await client.query('select 1/0').catch(() => {});
    });
    await expect(attempt).rejects.toThrow('rolled back');
    expect(await notes()).toEqual([]);
  });

  test('a connection lost on the way rejects and does not return to the pool', async () => {
    const attempt = transaction(database.pool, async (client) => {
      await client.query(`insert into notes values ('lost')`);
      await client.query('select pg_terminate_backend(pg_backend_pid())');
    });
    await expect(attempt).rejects.toThrow();
    expect(await notes()).toEqual([]);
  });
});
