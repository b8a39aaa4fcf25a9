import type pg from 'pg';
import { epochMs, firstOf, type Queryable, timestamp, valueOf } from './database.ts';

/** When a connection is synced: a cron pattern in an IANA time zone, and when (epoch ms) it came due next as that was stored. */
export interface Schedule {
  readonly pattern: string;
  readonly timeZone: string;
  readonly nextRunAt: number;
}

/** Remembers the schedule that a worker gave the queue, and that it has the connection in its configuration now. */
export async function noteSchedule(
  db: pg.Pool,
  connection: string,
  { pattern, timeZone, nextRunAt }: Schedule,
): Promise<void> {
  await db.query(
    `insert into connections (connection, pattern, time_zone, next_run_at, noted_at) values ($1, $2, $3, $4, now())
     on conflict (connection) do update
       set pattern = excluded.pattern, time_zone = excluded.time_zone, next_run_at = excluded.next_run_at, noted_at = now()`,
    [connection, pattern, timeZone, timestamp(nextRunAt)],
  );
}

/** Null: no worker has scheduled the connection so far. */
export function getSchedule(db: pg.Pool, connection: string): Promise<Schedule | null> {
  return firstOf(
    db,
    `select pattern, time_zone as "timeZone", ${epochMs('next_run_at')} as "nextRunAt"
     from connections where connection = $1 and pattern is not null`,
    [connection],
  );
}

/** Pauses connections until `unpause`; a paused one keeps its date. */
export async function pauseConnections(db: Queryable, connections: readonly string[]): Promise<void> {
  await db.query(
    `insert into connections (connection, paused_at) select name, now() from unnest($1::text[]) name
     on conflict (connection) do update set paused_at = coalesce(connections.paused_at, excluded.paused_at)`,
    [connections],
  );
}

/** Ends a pause. False: there was none. */
export async function unpause(db: pg.Pool, connection: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update connections set paused_at = null where connection = $1 and paused_at is not null`,
    [connection],
  );
  return rowCount === 1;
}

/** Since when (epoch ms) the connection is paused; null: it is not. */
export function pausedSince(db: pg.Pool, connection: string): Promise<number | null> {
  return valueOf(db, `select floor(${epochMs('paused_at')}) from connections where connection = $1`, [
    connection,
  ]);
}

/** The last call of a heartbeat. Times are epoch ms. */
export interface Heartbeat {
  /** The run whose success was reported last; null: none so far. */
  readonly runId: number | null;
  readonly attemptedAt: number;
  /** Null: the last call succeeded. */
  readonly failingSince: number | null;
  readonly fault: string | null;
}

/** The heartbeat of a connection, or of all (an empty name); null: never called. */
export function getHeartbeat(db: Queryable, connection: string): Promise<Heartbeat | null> {
  return firstOf(
    db,
    `select heartbeat_run as "runId", ${epochMs('heartbeat_at')} as "attemptedAt",
       ${epochMs('failing_since')} as "failingSince", fault
     from connections where connection = $1 and heartbeat_at is not null`,
    [connection],
  );
}

/** Stores the outcome of a call at `now` (epoch ms) for a run: a fault, or null. */
export async function noteHeartbeat(
  db: pg.Pool,
  connection: string,
  runId: number,
  now: number,
  fault: string | null,
): Promise<void> {
  await db.query(
    `insert into connections as c (connection, heartbeat_run, heartbeat_at, failing_since, fault)
     values ($1, case when $4::text is null then $2::bigint end, $3, case when $4::text is not null then $3::timestamptz end, $4)
     on conflict (connection) do update set heartbeat_run = coalesce(excluded.heartbeat_run, c.heartbeat_run),
       heartbeat_at = excluded.heartbeat_at, fault = excluded.fault,
       failing_since = case when excluded.fault is not null then coalesce(c.failing_since, excluded.failing_since) end`,
    [connection, runId, timestamp(now), fault],
  );
}
