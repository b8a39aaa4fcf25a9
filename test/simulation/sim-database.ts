import type pg from 'pg';
import { openDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { administrate } from '../support/administrate.ts';

/**
 * A database that worlds use one after the other: made and migrated once, emptied for each. Its columns' own times are
 * those of the simulation, which each session gets (`sim.now`).
 */
export class SimDatabase implements AsyncDisposable {
  readonly pool: pg.Pool;
  readonly #server: string;
  readonly #name: string;
  readonly #tables: string;

  private constructor(server: string, name: string, pool: pg.Pool, tables: string) {
    this.#server = server;
    this.#name = name;
    this.pool = pool;
    this.#tables = tables;
  }

  static async open(server: string, name: string): Promise<SimDatabase> {
    await administrate(server, `create database ${name} template template0`);
    const url = new URL(server);
    url.pathname = `/${name}`;
    const pool = openDatabase({ connectionString: url.href });
    await migrate(pool);
    await pool.query(
      `create function sim_now() returns timestamptz language sql stable as $$ select current_setting('sim.now')::timestamptz $$`,
    );
    const { rows: defaults } = await pool.query<{ table: string; column: string }>(
      `select table_name as table, column_name as column from information_schema.columns
       where table_schema = 'leadsync' and column_default = 'now()' and table_name <> 'migrations'`,
    );
    for (const { table, column } of defaults)
      await pool.query(`alter table ${table} alter column ${column} set default sim_now()`);
    const { rows: tables } = await pool.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'leadsync' and tablename <> 'migrations' order by 1`,
    );
    // Statistics that come when they like would change the order of rows that nobody asked an order of.
    for (const { name: table } of tables)
      await pool.query(`alter table ${table} set (autovacuum_enabled = false)`);
    return new SimDatabase(server, name, pool, tables.map(({ name: table }) => table).join(', '));
  }

  /** As after the migration; ids begin at 1 again. */
  async empty(): Promise<void> {
    await this.pool.query(`truncate ${this.#tables} restart identity cascade`);
  }

  /** A dump of what is in the database now, and what restores it. Nobody may work in it meanwhile. */
  async keep(): Promise<() => Promise<void>> {
    const names = this.#tables.split(', ');
    const { rows: dump } = await this.pool.query<{ name: string; rows: string | null }>(
      names
        .map((name) => `select '${name}' as name, (select array_agg(t)::text from ${name} t) as rows`)
        .join(' union all '),
    );
    const { rows: sequences } = await this.pool.query<{ name: string; last: string | null }>(
      `select format('%I.%I', schemaname, sequencename) as name, last_value as last from pg_sequences where schemaname = 'leadsync'`,
    );
    return async () => {
      await this.empty();
      const client = await this.pool.connect();
      try {
        await client.query(`begin; set local session_replication_role = replica`);
        for (const { name, rows } of dump)
          if (rows !== null)
            await client.query(
              `insert into ${name} overriding system value select (r).* from unnest($1::${name}[]) r`,
              [rows],
            );
        for (const { name, last } of sequences)
          if (last !== null) await client.query('select setval($1, $2)', [name, last]);
        await client.query('commit');
      } finally {
        client.release();
      }
    };
  }

  /** Whether one of these sessions waits for a lock. */
  async isBlocked(pids: readonly number[]): Promise<boolean> {
    const { rows } = await this.pool.query<{ blocked: boolean }>(
      `select coalesce(bool_or(cardinality(pg_blocking_pids(pid)) > 0), false) as blocked from unnest($1::int[]) pid`,
      [pids],
    );
    return rows[0]?.blocked ?? false;
  }

  /** Returns when these sessions are gone, with their transactions and locks. */
  async kill(pids: readonly number[]): Promise<void> {
    if (pids.length === 0) return;
    await this.pool.query(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity where pid = any($1::int[])`,
      [pids],
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pool.end();
    await administrate(this.#server, `drop database ${this.#name} with (force)`);
  }
}
