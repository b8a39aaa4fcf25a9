import type pg from 'pg';
import { valueOf } from './database.ts';

/**
 * After that the configured page size is sent again, since the service may allow it now, and replies are trusted again, since
 * an edit by a person may have looked like a wrong one.
 */
const remembered = `interval '30 days'`;

/**
 * The page size for this service (see `serviceScope`) that configured `pageSize`: smaller where the service rejected that; 0:
 * without `limit`.
 */
export async function learnedPageSize(db: pg.Pool, scope: string, pageSize: number): Promise<number> {
  const text = `select takes from services where scope = $1 and page_size = $2 and page_learned_at > now() - ${remembered}`;
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
    `insert into services as known (scope, page_size, takes, page_learned_at) values ($1, $2, $3, now())
     on conflict (scope) do update set page_size = excluded.page_size, takes = excluded.takes, page_learned_at = now()
     where (known.page_size, known.takes) is distinct from (excluded.page_size, excluded.takes)
       or known.page_learned_at <= now() - ${remembered}`,
    [scope, pageSize, takes],
  );
}

/** Whether a recent reply of this service to a write showed what a later read did not. */
export async function areRepliesDoubted(db: pg.Pool, scope: string): Promise<boolean> {
  const text = `select true from services where scope = $1 and doubted_at > now() - ${remembered}`;
  return (await valueOf<boolean>(db, text, [scope])) === true;
}

/** Remembers that one did. */
export async function doubtReplies(db: pg.PoolClient, scope: string): Promise<void> {
  await db.query(
    `insert into services (scope, doubted_at) values ($1, now()) on conflict (scope) do update set doubted_at = now()`,
    [scope],
  );
}
