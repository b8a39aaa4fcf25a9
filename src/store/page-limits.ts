import type pg from 'pg';
import { valueOf } from './database.ts';

/** Then the configured size is sent again: the service may allow it now, or the rejection had another reason. */
const remembered = `interval '30 days'`;

/**
 * The page size for this service (see `serviceScope`) that configured `pageSize`: smaller where the service rejected that; 0:
 * without `limit`.
 */
export async function learnedPageSize(db: pg.Pool, scope: string, pageSize: number): Promise<number> {
  const text = `select takes from page_limits where scope = $1 and page_size = $2 and learned_at > now() - ${remembered}`;
  return (await valueOf<number>(db, text, [scope, pageSize])) ?? pageSize;
}

/** Stores the page size that the service accepted after it had rejected larger ones. */
export async function rememberPageSize(
  db: pg.PoolClient,
  scope: string,
  pageSize: number,
  takes: number,
): Promise<void> {
  await db.query(
    `insert into page_limits as known (scope, page_size, takes) values ($1, $2, $3)
     on conflict (scope) do update set page_size = excluded.page_size, takes = excluded.takes, learned_at = now()
     where known.page_size <> excluded.page_size or known.takes <> excluded.takes
       or known.learned_at <= now() - ${remembered}`,
    [scope, pageSize, takes],
  );
}
