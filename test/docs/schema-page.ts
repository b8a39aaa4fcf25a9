import type pg from 'pg';

/** docs/schema.md, as the database has it. `pool`: of a database with the schema of this version. */
export async function schemaPage(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ name: string; about: string | null; columns: string[] }>(
    `select c.relname as name, obj_description(c.oid) as about,
       (select array_agg(a.attname::text order by a.attnum) from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
     from pg_class c where c.relnamespace = 'leadsync'::regnamespace and c.relkind = 'r' and c.relname <> 'migrations' order by c.relname`,
  );
  const tables = rows.map(
    ({ name, about, columns }) => `- **${name}**: ${about ?? ''} \`${columns.join('\`, \`')}\`\n`,
  );
  return `# Schema

The tables of the schema \`leadsync\` with their columns, written by \`npm run docs\`. Types, keys, and what each column means stand in
\`src/store/migrations\`.

${tables.join('')}`;
}
