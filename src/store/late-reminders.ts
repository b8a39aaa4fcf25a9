import type { Queryable } from './database.ts';

/** Reminders that did not go as they should. */
export interface LateReminders {
  /** Should have been sent more than five minutes ago. */
  readonly late: number;
  /** Failed or missed within the last seven days. */
  readonly failed: number;
}

export async function lateReminders(db: Queryable, connection: string): Promise<LateReminders> {
  const { rows } = await db.query<LateReminders>(
    `select count(*) filter (where state in ('scheduled', 'sending') and send_at < now() - interval '5 minutes')::int as late,
       count(*) filter (where state in ('failed', 'missed') and updated_at > now() - interval '7 days')::int as failed
     from reminders where connection = $1`,
    [connection],
  );
  return rows[0] ?? { late: 0, failed: 0 };
}
