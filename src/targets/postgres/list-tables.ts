import pg from 'pg';
import type { Secret } from '../../config/secret.ts';
import { openClient, raise } from './connection.ts';

/** A table that this user may read. */
export interface ListedTable {
  /** `table` in the schema public, else `schema.table`. */
  readonly name: string;
  /** In their order. */
  readonly columns: readonly string[];
}

/** Ordinary tables alone; a name with a dot could not be written in the configuration. */
const tables = `
  select case when n.nspname = 'public' then '' else n.nspname || '.' end || c.relname as name,
    coalesce(array_agg(a.attname::text order by a.attnum) filter (where a.attname is not null), '{}') as columns
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
    left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relkind = 'r' and n.nspname !~ '^pg_|^information_schema$' and has_table_privilege(c.oid, 'select')
    and n.nspname !~ '[.]' and c.relname !~ '[.]'
  group by 1 order by 1`;

/**
 * The tables of a database.
 * @throws LeadsyncError `target.bad-url`, `target.unavailable`, `target.unauthenticated`, as the target does
 */
export function listTables(url: Secret): Promise<readonly ListedTable[]> {
  return withClient(url, async (client) => (await client.query<ListedTable>(tables)).rows);
}

/** Whether a listed table has rows. Throws as `listTables` does. */
export function hasTableRows(url: Secret, table: string): Promise<boolean> {
  const quoted = table.split('.').map(pg.escapeIdentifier).join('.');
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ found: boolean }>(`select exists (select from ${quoted}) as found`);
    return rows[0]?.found === true;
  });
}

async function withClient<T>(url: Secret, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const name = 'the tables';
  const client = openClient(url, name);
  client.on('error', () => {});
  try {
    await client.connect();
    return await work(client);
  } catch (error) {
    return raise(error, name);
  } finally {
    await client.end().catch(() => {});
  }
}
