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
export async function listTables(url: Secret): Promise<readonly ListedTable[]> {
  const name = 'the tables';
  const client = openClient(url, name);
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query<ListedTable>(tables)).rows;
  } catch (error) {
    return raise(error, name);
  } finally {
    await client.end().catch(() => {});
  }
}
