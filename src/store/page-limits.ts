import type pg from 'pg';
import { valueOf } from './database.ts';

/** After so long it is tried again: the service may have learned it meanwhile, or the rejection had another reason. */
const remembered = `interval '30 days'`;

/**
 * How many leads to ask the service of this scope (see `serviceScope`) for on a page when the settings say `pageSize`; 0:
 * without `limit`.
 */
export async function learnedPageSize(db: pg.Pool, scope: string, pageSize: number): Promise<number> {
  const text = `select takes from page_limits where scope = $1 and page_size = $2 and learned_at > now() - ${remembered}`;
  return (await valueOf<number>(db, text, [scope, pageSize])) ?? pageSize;
}

/** Remembers the page size that the service answered, after it had rejected larger ones. */
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
