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
       (select array_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || case when a.attnotnull then '' else ', null' end order by a.attnum)
        from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
       (select coalesce(array_agg(pg_get_constraintdef(k.oid) order by k.contype desc, k.conname), '{}') from pg_constraint k
        where k.conrelid = c.oid and k.contype in ('p', 'u', 'f')) as keys
     from pg_class c where c.relnamespace = 'leadsync'::regnamespace and c.relkind = 'r' and c.relname <> 'migrations' order by c.relname`,
  );
  const tables = rows.map(
    ({ name, about, columns, keys }) =>
      `## ${name}\n\n${about ?? ''}\n\n${columns.map((column) => `- ${column}`).join('\n')}\n\n${keys.map(shown).join('; ')}\n`,
  );
  return `# Schema\n\nThe tables of the schema \`leadsync\`, as \`npm run docs\` finds them in the database. What each column means stands
beside it in \`src/store/migrations\`.\n\n${tables.join('\n')}`;
}

const shown = (definition: string): string =>
  definition
    .replace('PRIMARY KEY', 'primary key')
    .replace('UNIQUE', 'unique')
    .replace('FOREIGN KEY', 'foreign key');
