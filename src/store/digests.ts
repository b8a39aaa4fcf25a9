import { type Queryable, timestamp } from './database.ts';

interface Day {
  readonly localDate: string;
  /** Epoch ms. */
  readonly sendAt: number;
}

/**
 * Brings the digests that are scheduled in line with the settings: the `last` day's and the `next` one's get their
 * moment, other days to come are dropped, and what lies before the last is missed. Returns whose digest was missed.
 */
export async function settleDigests(
  db: Queryable,
  connection: string,
  last: Day,
  next: Day,
): Promise<readonly string[]> {
  await db.query(
    `delete from mails where connection = $1 and kind = 'digest' and state = 'scheduled' and local_date > $2::date and local_date <> $3::date`,
    [connection, last.localDate, next.localDate],
  );
  await db.query(
    `update mails d set send_at = n.send_at, updated_at = now()
     from unnest($2::date[], $3::timestamptz[]) as n (local_date, send_at)
     where d.connection = $1 and d.kind = 'digest' and d.state = 'scheduled' and d.local_date = n.local_date and d.send_at <> n.send_at`,
    [connection, [last.localDate, next.localDate], [timestamp(last.sendAt), timestamp(next.sendAt)]],
  );
  const { rows } = await db.query<{ recipient: string }>(
    `update mails set state = 'missed', updated_at = now(), note = 'it could not be sent on its day'
     where connection = $1 and kind = 'digest' and state = 'scheduled' and local_date < $2::date returning recipient`,
    [connection, last.localDate],
  );
  return [...new Set(rows.map(({ recipient }) => recipient))];
}

/** Marks those of a day that can no longer be sent. */
export async function missDigests(db: Queryable, connection: string, localDate: string): Promise<void> {
  await db.query(
    `update mails set state = 'missed', updated_at = now(), note = 'it could not be sent on its day'
     where connection = $1 and kind = 'digest' and state = 'scheduled' and local_date = $2::date`,
    [connection, localDate],
  );
}

/** Schedules the digest of a day for each recipient who has none yet. */
export async function scheduleDigests(
  db: Queryable,
  connection: string,
  recipients: readonly string[],
  { localDate, sendAt }: Day,
): Promise<void> {
  await db.query(
    `insert into mails (connection, kind, recipient, local_date, send_at)
     select $1, 'digest', recipient, $3::date, $4::timestamptz from unnest($2::text[]) recipient
     on conflict do nothing`,
    [connection, recipients, localDate, timestamp(sendAt)],
  );
}

/** Drops all that is scheduled for a connection that has no digests any more. */
export async function dropDigests(db: Queryable, connection: string): Promise<void> {
  await db.query(`delete from mails where connection = $1 and kind = 'digest' and state = 'scheduled'`, [
    connection,
  ]);
}
