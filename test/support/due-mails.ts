import type pg from 'pg';
import { type Digest, getMails, type Reminder } from '../../src/store/mails.ts';

async function dueMails(pool: pg.Pool, connections: readonly string[], which: string) {
  const { rows } = await pool.query<{ id: number }>(
    `select id from mails where connection = any($1) and state in ('scheduled', 'sending')
       and send_at < now() + interval '2 hours' and ${which} order by send_at, id`,
    [connections],
  );
  return getMails(
    pool,
    rows.map(({ id }) => id),
  );
}

/** What is to be sent within two hours, or was begun and is not finished; soonest first. */
export async function dueReminders(
  pool: pg.Pool,
  connections: readonly string[],
): Promise<readonly Reminder[]> {
  return (await dueMails(pool, connections, `kind <> 'digest'`)) as readonly Reminder[];
}

/** The same of digests. */
export async function dueDigests(pool: pg.Pool, connections: readonly string[]): Promise<readonly Digest[]> {
  return (await dueMails(pool, connections, `kind = 'digest'`)) as readonly Digest[];
}
