import { epochMs, type Queryable } from './database.ts';
import { senderColumns, type SentBy } from './mail-sender.ts';
import { timestamp } from './timestamp.ts';

export type DigestState = 'scheduled' | 'sending' | 'sent' | 'skipped' | 'missed' | 'failed';

/** The one mail of a day to a recipient about all that is due. */
export interface Digest extends SentBy {
  readonly id: number;
  readonly connection: string;
  /** In small letters. */
  readonly recipient: string;
  /** In the recipients' zone, `2026-11-21`. */
  readonly localDate: string;
  /** Epoch ms. */
  readonly sendAt: number;
  readonly state: DigestState;
  /** How often it was begun again though nobody knew what had become of it. */
  readonly resends: number;
  /** How often the mail server itself left that open. */
  readonly unknownOutcomes: number;
  /** How often it was tried to send it. */
  readonly attempts: number;
  /** Epoch ms; null: not so far. */
  readonly firstTriedAt: number | null;
  /** When its state was last written, epoch ms. */
  readonly updatedAt: number;
}

/** A digest as people look at it. */
export interface ListedDigest extends Digest {
  readonly note: string | null;
}

interface Day {
  readonly localDate: string;
  /** Epoch ms. */
  readonly sendAt: number;
}

const columns = `id, connection, recipient, local_date::text as "localDate",
  ${epochMs('send_at')} as "sendAt", state, resends, unknown_outcomes as "unknownOutcomes", attempts,
  ${epochMs('first_tried_at')} as "firstTriedAt", ${epochMs('updated_at')} as "updatedAt", ${senderColumns('digests')}`;

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
    `delete from digests where connection = $1 and state = 'scheduled' and local_date > $2::date and local_date <> $3::date`,
    [connection, last.localDate, next.localDate],
  );
  await db.query(
    `update digests d set send_at = n.send_at, updated_at = now()
     from unnest($2::date[], $3::timestamptz[]) as n (local_date, send_at)
     where d.connection = $1 and d.state = 'scheduled' and d.local_date = n.local_date and d.send_at <> n.send_at`,
    [connection, [last.localDate, next.localDate], [timestamp(last.sendAt), timestamp(next.sendAt)]],
  );
  const { rows } = await db.query<{ recipient: string }>(
    `update digests set state = 'missed', updated_at = now(), note = 'it could not be sent on its day'
     where connection = $1 and state = 'scheduled' and local_date < $2::date returning recipient`,
    [connection, last.localDate],
  );
  return [...new Set(rows.map(({ recipient }) => recipient))];
}

/** Marks those of a day that can no longer be sent. */
export async function missDigests(db: Queryable, connection: string, localDate: string): Promise<void> {
  await db.query(
    `update digests set state = 'missed', updated_at = now(), note = 'it could not be sent on its day'
     where connection = $1 and state = 'scheduled' and local_date = $2::date`,
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
    `insert into digests (connection, recipient, local_date, send_at)
     select $1, recipient, $3::date, $4::timestamptz from unnest($2::text[]) recipient
     on conflict (connection, recipient, local_date) do nothing`,
    [connection, recipients, localDate, timestamp(sendAt)],
  );
}

/** Drops all that is scheduled for a connection that has no digests any more. */
export async function dropDigests(db: Queryable, connection: string): Promise<void> {
  await db.query(`delete from digests where connection = $1 and state = 'scheduled'`, [connection]);
}

/** What is to be sent within `horizonMs`, or was begun and is not finished; soonest first. */
export async function dueDigests(
  db: Queryable,
  connection: string,
  horizonMs: number,
): Promise<readonly Digest[]> {
  const { rows } = await db.query<Digest>(
    `select ${columns} from digests where connection = $1 and state in ('scheduled', 'sending')
       and send_at < now() + $2 * interval '1 ms' order by send_at, id`,
    [connection, horizonMs],
  );
  return rows;
}

export async function getDigest(db: Queryable, id: number): Promise<Digest | null> {
  const { rows } = await db.query<Digest>(`select ${columns} from digests where id = $1`, [id]);
  return rows[0] ?? null;
}

/** Digests in some states, the latest first. */
export async function listDigests(
  db: Queryable,
  connection: string,
  states: readonly DigestState[],
  limit: number,
): Promise<readonly ListedDigest[]> {
  const { rows } = await db.query<ListedDigest>(
    `select ${columns}, note from digests where connection = $1 and state = any($2)
     order by send_at desc, id desc limit $3`,
    [connection, states, limit],
  );
  return rows;
}
