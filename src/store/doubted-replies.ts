import type pg from 'pg';

/** Then replies are trusted again: an edit by a person may have looked like a wrong reply. */
const remembered = `interval '30 days'`;

/** Whether a recent reply of this service (see `serviceScope`) to a write showed what a later read did not. */
export async function areRepliesDoubted(db: pg.Pool, scope: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from doubted_replies where scope = $1 and learned_at > now() - ${remembered}`,
    [scope],
  );
  return rowCount === 1;
}

/** Remembers that one did. */
export async function doubtReplies(db: pg.PoolClient, scope: string): Promise<void> {
  await db.query(
    `insert into doubted_replies (scope) values ($1) on conflict (scope) do update set learned_at = now()`,
    [scope],
  );
}
