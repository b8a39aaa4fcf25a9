import { LeadsyncError } from '../../lib/errors.ts';
import { type Ask, attempt } from './connection.ts';

const markTable = 'leadsync_mark';

/** Of the quoted table: its schema's mark table (quoted), its own name, and whether that is there, readable, writable, may be created. */
const place = `
  select format('%I.${markTable}', n.nspname), c.relname, (m.oid is not null)::text,
    coalesce(has_table_privilege(m.oid, 'select'), false)::text,
    coalesce(has_table_privilege(m.oid, 'select') and has_table_privilege(m.oid, 'insert')
      and has_table_privilege(m.oid, 'update'), has_schema_privilege(n.oid, 'create'))::text
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
    left join pg_class m on m.relnamespace = n.oid and m.relname = '${markTable}'
  where c.oid = to_regclass($1)`;

export async function readTableMark(ask: Ask, table: string): Promise<string | null | undefined> {
  const [found] = await ask(place, [table]);
  const [marks, name, isThere, isReadable, isWritable] = found ?? [];
  if (isThere === 'true' && isReadable === 'true') {
    const read = () => ask(`select mark from ${marks} where table_name = $1`, [name]);
    const rows = await attempt(ask, isRefusal, read);
    return rows instanceof LeadsyncError ? undefined : (rows[0]?.[0] ?? null);
  }
  return isThere !== 'true' && isWritable === 'true' ? null : undefined;
}

/** Marks a table in the transaction that writes its rows. False: refused, and the rows are written without a mark. */
export async function writeTableMark(ask: Ask, table: string, mark: string): Promise<boolean> {
  const [found] = await ask(place, [table]);
  const [marks, name, isThere, , isWritable] = found ?? [];
  if (isWritable !== 'true') return false;
  const written = await attempt(ask, isRefusal, async () => {
    if (isThere !== 'true')
      await ask(`create table if not exists ${marks} (table_name text primary key, mark text not null)`);
    return ask(
      `insert into ${marks} (table_name, mark) values ($1, $2)
       on conflict (table_name) do update set mark = excluded.mark`,
      [name, mark],
    );
  });
  return !(written instanceof LeadsyncError);
}

/** Somebody's own table of that name, for example. */
const isRefusal = (code: string): boolean => code !== 'target.unavailable';
