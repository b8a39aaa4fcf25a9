import type pg from 'pg';

/** docs/schema.md, as the database has it. `pool`: of a database with the schema of this version, in UTC. */
export async function schemaPage(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{
    name: string;
    about: string | null;
    columns: string[];
    keys: string[];
  }>(
    `select c.relname as name, obj_description(c.oid) as about,
       (select array_agg(a.attname || case when a.attnotnull then '' else '?' end || ' ' || format_type(a.atttypid, a.atttypmod) order by a.attnum)
        from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
       (select coalesce(array_agg(pg_get_constraintdef(k.oid) order by k.contype desc, k.conname), '{}') from pg_constraint k
        where k.conrelid = c.oid and k.contype in ('p', 'u', 'f')) as keys
     from pg_class c where c.relnamespace = 'leadsync'::regnamespace and c.relkind = 'r' and c.relname <> 'migrations' order by c.relname`,
  );
  const tables = rows.map(({ name, about, columns, keys }) =>
    [
      `## ${name}`,
      about ?? '',
      byType(columns),
      ...(keys.length === 0 ? [] : [keys.map(shown).join('; ')]),
    ].join('\n\n'),
  );
  return `# Schema

The tables of the schema \`leadsync\`, with their columns by type, written by \`npm run docs\`. "?": may be null. What each column means
stands in \`src/store/migrations\`.

${tables.join('\n\n')}
`;
}

/** "bigint: id, run_id; text: kind, lead_id?": of columns such as "lead_id? text". */
function byType(columns: readonly string[]): string {
  const types = Map.groupBy(columns, (column) => column.slice(column.indexOf(' ') + 1));
  const named = [...types].map(
    ([type, all]) => `${short[type] ?? type}: ${all.map((column) => column.split(' ', 1)[0]).join(', ')}`,
  );
  return named.join('; ');
}

/** The names that Postgres itself knows as short ones. */
const short: Readonly<Record<string, string>> = {
  'timestamp with time zone': 'timestamptz',
  'double precision': 'float8',
};

const shown = (definition: string): string =>
  definition
    .replace('PRIMARY KEY', 'primary key')
    .replace('UNIQUE', 'unique')
    .replace('FOREIGN KEY', 'foreign key');
