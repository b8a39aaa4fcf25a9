import type pg from 'pg';

/** docs/schema.md, as the database has it. `pool`: of a database with the schema of this version. */
export async function schemaPage(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ name: string; about: string | null }>(
    `select c.relname as name, obj_description(c.oid) as about from pg_class c
     where c.relnamespace = 'leadsync'::regnamespace and c.relkind = 'r' and c.relname <> 'migrations' order by c.relname`,
  );
  return `# Schema

The tables of the schema \`leadsync\`, written by \`npm run docs\`. Their columns, and what each means: \`src/store/migrations\`.

${rows.map(({ name, about }) => `- \`${name}\`: ${shortly(about ?? '')}\n`).join('')}`;
}

/** What a table is for: how it works stands in the migration. */
const shortly = (about: string): string => about.replace(/(?<=[^.:])[.:] .*/s, '.');
