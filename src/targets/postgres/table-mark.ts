import { LeadsyncError } from '../../errors.ts';
import type { Ask } from './table-columns.ts';

/** Where the marks of a schema's tables are kept, and what is there. */
const markTable = 'leadsync_mark';

/**
 * Of the table (quoted): the mark table of its schema as it is named in a statement, its own name, and whether the mark
 * table is there, whether we may read it and write to it, and whether we may make it.
 */
const place = `
  select format('%I.${markTable}', n.nspname), c.relname, (m.oid is not null)::text,
    coalesce(has_table_privilege(m.oid, 'select'), false)::text,
    coalesce(has_table_privilege(m.oid, 'select') and has_table_privilege(m.oid, 'insert')
      and has_table_privilege(m.oid, 'update'), has_schema_privilege(n.oid, 'create'))::text
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
    left join pg_class m on m.relnamespace = n.oid and m.relname = '${markTable}'
  where c.oid = to_regclass($1)`;

/** The mark of a table; null: it has none. Undefined where none can be written. */
export async function readTableMark(ask: Ask, table: string): Promise<string | null | undefined> {
  const [found] = await ask(place, [table]);
  const [marks, name, isThere, isReadable, isWritable] = found ?? [];
  if (isThere === 'true' && isReadable === 'true') {
    const read = (): Promise<readonly (readonly (string | null)[])[]> =>
      ask(`select mark from ${marks} where table_name = $1`, [name]);
    const rows = await unlessRefused(ask, read);
    return rows === null ? undefined : (rows[0]?.[0] ?? null);
  }
  return isThere !== 'true' && isWritable === 'true' ? null : undefined;
}

/** Marks a table in the transaction that writes its rows. False where that is refused: the rows are written without. */
export async function writeTableMark(ask: Ask, table: string, mark: string): Promise<boolean> {
  const [found] = await ask(place, [table]);
  const [marks, name, isThere, , isWritable] = found ?? [];
  if (isWritable !== 'true') return false;
  const written = await unlessRefused(ask, async () => {
    if (isThere !== 'true')
      await ask(`create table if not exists ${marks} (table_name text primary key, mark text not null)`);
    return ask(
      `insert into ${marks} (table_name, mark) values ($1, $2)
       on conflict (table_name) do update set mark = excluded.mark`,
      [name, mark],
    );
  });
  return written !== null;
}

/** Null for what PostgreSQL refuses, which then was not done: somebody's own table of that name, for example. */
async function unlessRefused<T>(ask: Ask, work: () => Promise<T>): Promise<T | null> {
  await ask('savepoint before_mark');
  try {
    const result = await work();
    await ask('release savepoint before_mark');
    return result;
  } catch (error) {
    if (!(error instanceof LeadsyncError) || error.code === 'target.unavailable') throw error;
    await ask('rollback to savepoint before_mark');
    return null;
  }
}
