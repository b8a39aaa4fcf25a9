import type pg from 'pg';

/** When a connection is synced: a cron pattern in an IANA time zone. */
export interface Schedule {
  readonly pattern: string;
  readonly timeZone: string;
}

/** Remembers what a worker has told the queue of the connection, and that it has the connection in its configuration now. */
export async function noteSchedule(
  db: pg.Pool,
  connection: string,
  { pattern, timeZone }: Schedule,
): Promise<void> {
  await db.query(
    `insert into schedules (connection, pattern, time_zone) values ($1, $2, $3)
     on conflict (connection) do update set pattern = excluded.pattern, time_zone = excluded.time_zone, noted_at = now()`,
    [connection, pattern, timeZone],
  );
}

/** Null: no worker has scheduled the connection so far. */
export async function getSchedule(db: pg.Pool, connection: string): Promise<Schedule | null> {
  const { rows } = await db.query<Schedule>(
    `select pattern, time_zone as "timeZone" from schedules where connection = $1`,
    [connection],
  );
  return rows[0] ?? null;
}
