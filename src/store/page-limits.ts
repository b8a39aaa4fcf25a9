import type pg from 'pg';

/** After so long it is tried again: the service may have learned it meanwhile, or the rejection had another reason. */
const remembered = `interval '30 days'`;

/** Whether the service of this scope (see `serviceScope`) has rejected pages of so many leads lately. */
export async function isLimitRejected(db: pg.Pool, scope: string, pageSize: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from page_limits where scope = $1 and page_size = $2 and learned_at > now() - ${remembered}`,
    [scope, pageSize],
  );
  return rowCount === 1;
}

/** Remembers that it has, and answers without `limit`. */
export async function rememberRejectedLimit(
  db: pg.PoolClient,
  scope: string,
  pageSize: number,
): Promise<void> {
  await db.query(
    `insert into page_limits (scope, page_size) values ($1, $2)
     on conflict (scope) do update set page_size = excluded.page_size, learned_at = now()
     where page_limits.page_size <> excluded.page_size or page_limits.learned_at <= now() - ${remembered}`,
    [scope, pageSize],
  );
}
