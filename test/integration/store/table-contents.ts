import type pg from 'pg';

/** Of each table how many rows it has, and a hash of them all. */
export async function contents(
  pool: pg.Pool,
  leftOut: readonly string[] = [],
): Promise<Record<string, string>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'leadsync' and tablename <> all($1) order by 1`,
    [leftOut],
  );
  const found: Record<string, string> = {};
  for (const { name } of tables) {
    const { rows } = await pool.query<{ hash: string }>(
      `select count(*) || ' ' || coalesce(md5(string_agg(t::text, E'\\n' order by t::text)), '') as hash from ${name} t`,
    );
    found[name] = rows[0]?.hash ?? '';
  }
  return found;
}
