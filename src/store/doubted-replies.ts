import type pg from 'pg';

/** After so long they are believed again: an edit by a person may have looked like a wrong reply. */
const remembered = `interval '30 days'`;

/** Whether replies of the service of this scope (see `serviceScope`) to a write showed lately what was not read afterwards. */
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
