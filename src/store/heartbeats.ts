import type pg from 'pg';
import { epochMs, type Queryable } from './database.ts';
import { timestamp } from './timestamp.ts';

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
export async function getHeartbeat(db: Queryable, unit: string): Promise<Heartbeat | null> {
  const { rows } = await db.query<Heartbeat>(
    `select run_id as "runId", ${epochMs('attempted_at')} as "attemptedAt",
       ${epochMs('failing_since')} as "failingSince", fault from heartbeats where unit = $1`,
    [unit],
  );
  return rows[0] ?? null;
}

/** Stores the outcome of a call at `now` (epoch ms) for a run: a fault, or null. */
export async function noteHeartbeat(
  db: pg.Pool,
  unit: string,
  runId: number,
  now: number,
  fault: string | null,
): Promise<void> {
  await db.query(
    `insert into heartbeats as p (unit, run_id, attempted_at, failing_since, fault)
     values ($1, case when $4::text is null then $2::bigint end, $3, case when $4::text is not null then $3::timestamptz end, $4)
     on conflict (unit) do update set run_id = coalesce(excluded.run_id, p.run_id), attempted_at = excluded.attempted_at,
       failing_since = case when excluded.fault is not null then coalesce(p.failing_since, excluded.failing_since) end,
       fault = excluded.fault`,
    [unit, runId, timestamp(now), fault],
  );
}
