import pg from 'pg';
import { LeadsyncError } from '../../lib/errors.ts';
import type { Place } from '../../ports/target.ts';
import { type Ask, attempt, type Texts } from './connection.ts';

/** Null without permission. */
const system = `(select system_identifier from pg_control_system())::text`;

const here = (identifier: string): string =>
  `select ${identifier}, current_database()::text, host(inet_server_addr())`;

export async function tablePlace(ask: Ask, table: string): Promise<Place> {
  const parts = table.split('.').map(pg.escapeIdentifier);
  const [found] = await askSystem(
    ask,
    (identifier) =>
      `${here(identifier)}, coalesce(n.nspname::text, $2, current_schema()::text, ''), coalesce(c.relname::text, $3), (c.oid is not null)::text
       from (select to_regclass($1) as oid) t left join pg_class c on c.oid = t.oid left join pg_namespace n on n.oid = c.relnamespace`,
    [parts.join('.'), table.includes('.') ? table.split('.', 1)[0] : null, table.split('.').at(-1)],
  );
  const [identifier, database, address, schema, name, isThere] = found ?? [];
  return {
    id: `postgres:${JSON.stringify([identifier ?? address ?? '', database, schema, name])}`,
    address: `table ${schema}.${name} of the database ${database}${address === null || address === undefined ? '' : ` at ${address}`}`,
    isThere: isThere === 'true',
  };
}

export async function isTableLeft(ask: Ask, id: string): Promise<boolean> {
  const [, json] = /^postgres:(.*)$/s.exec(id) ?? [];
  if (json === undefined) return false;
  const [server, database, schema, name] = JSON.parse(json) as readonly string[];
  const [found] = await askSystem(
    ask,
    (identifier) =>
      `${here(identifier)}, (to_regclass($1) is null)::text, (not exists (select from pg_database where datname = $2))::text`,
    [[schema, name].map((part) => pg.escapeIdentifier(part ?? '')).join('.'), database],
  );
  const [identifier, current, address, isTableGone, isDatabaseGone] = found ?? [];
  if ((identifier ?? address ?? '') !== server) return false;
  return (current === database ? isTableGone : isDatabaseGone) === 'true';
}

async function askSystem(
  ask: Ask,
  text: (identifier: string) => string,
  values: readonly unknown[],
): Promise<Texts[]> {
  const isRefusal = (code: string) => code === 'target.forbidden' || code === 'target.refused';
  const found = await attempt(ask, isRefusal, () => ask(text(system), values));
  return found instanceof LeadsyncError ? ask(text('null::text'), values) : found;
}

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
