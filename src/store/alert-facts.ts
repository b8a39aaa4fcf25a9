import type pg from 'pg';
import { epochMs, oneOf, rowsOf, timestamp } from './database.ts';
import { heldItems } from './conflicts.ts';
import { isWhole } from './runs.ts';

/** A run that ended without carrying out a sync. */
export interface FailedRun {
  readonly runId: number;
  readonly status: 'failed' | 'stopped';
  readonly code: string;
  readonly message: string;
}

/** The facts about a connection that may be problems. Times are epoch ms. */
export interface ConnectionFacts {
  /** The last sync that was carried out, whether anything was held or put off in it or not. */
  readonly lastSuccess: { readonly runId: number; readonly at: number } | null;
  readonly watchedSince: number;
  /** Scheduled or asked-for syncs that ended otherwise since then, newest first. */
  readonly failures: readonly FailedRun[];
  /** Items on which no person has decided. */
  readonly held: number;
  /** Those of them that have waited for a day. */
  readonly heldLong: number;
  /** Reminders and digests. `failed` and `missed` (though they were tried): of late; `late`: still to be sent. */
  readonly mails: { readonly failed: number; readonly missed: number; readonly late: number };
}

/** The most failures that are looked at. */
const failuresSeen = 50;

/** A failed mail counts for this long (ms); an unsent one is late after this long. */
const failedMs = 24 * 3_600_000;
const lateMs = 3_600_000;

/** What is held for so long (ms) may have been overlooked. */
const longMs = 24 * 3_600_000;

/** Looks at a connection at `now` (epoch ms), and remembers when that was done for the first time. */
export async function connectionFacts(
  db: pg.PoolClient,
  connection: string,
  now: number,
): Promise<ConnectionFacts> {
  await db.query(
    `insert into connections as c (connection, watched_since) values ($1, $2)
     on conflict (connection) do update set watched_since = excluded.watched_since where c.watched_since is null`,
    [connection, timestamp(now)],
  );
  const { since, runId, at, held, heldLong } = await oneOf<{
    since: number;
    runId: number | null;
    at: number | null;
    held: number;
    heldLong: number;
  }>(
    db,
    `select ${epochMs('watched_since')} as since, s.id as "runId", s.at,
       h.held, h."heldLong"
     from connections w cross join lateral (
       select count(*)::int as held, count(*) filter (where coalesce(settled_at, since) <= $2)::int as "heldLong"
       from ${heldItems} and connection = $1 and resolution is null) h left join lateral (
       select id, ${epochMs('finished_at')} as at from runs r where r.connection = $1 and mode = 'sync'
         and status in ('succeeded', 'partial') and ${isWhole} order by id desc limit 1) s on true
     where w.connection = $1`,
    [connection, timestamp(now - longMs)],
  );
  return {
    lastSuccess: runId === null || at === null ? null : { runId, at },
    watchedSince: since,
    failures: await failuresSince(db, connection, runId ?? 0),
    held,
    heldLong,
    mails: await mailFacts(db, connection, now),
  };
}

function failuresSince(db: pg.PoolClient, connection: string, runId: number): Promise<readonly FailedRun[]> {
  return rowsOf(
    db,
    `select id as "runId", status, coalesce(report->'problems'->0->>'code', 'internal') as code,
       coalesce(report->'problems'->0->>'message', '') as message
     from runs where connection = $1 and id > $2 and mode = 'sync' and status in ('failed', 'stopped')
       and ${isWhole} order by id desc limit $3`,
    [connection, runId, failuresSeen],
  );
}

/**
 * A mail is late after an hour of failed attempts, or an hour after it was due and planned without an attempt. A mail planned
 * when it was overdue for more than `graceMs` already, as after a first sync, is missed without an attempt: no failure.
 */
function mailFacts(db: pg.PoolClient, connection: string, now: number): Promise<ConnectionFacts['mails']> {
  return oneOf(
    db,
    `select count(*) filter (where state = 'failed' and updated_at > $2)::int as failed,
       count(*) filter (where state = 'missed' and attempts > 0 and updated_at > $2)::int as missed,
       count(*) filter (where state in ('scheduled', 'sending')
         and greatest(send_at, coalesce(first_tried_at, updated_at)) < $3)::int as late
     from mails where connection = $1
       and (state in ('scheduled', 'sending') or (state in ('failed', 'missed') and updated_at > $2))`,
    [connection, timestamp(now - failedMs), timestamp(now - lateMs)],
  );
}
