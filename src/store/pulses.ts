import type pg from 'pg';
import { epochMs, type Queryable } from './database.ts';
import { timestamp } from './timestamp.ts';

/** How the calls of a heartbeat go. Times are epoch ms. */
export interface Pulse {
  /** The run whose success was told last; null: none so far. */
  readonly runId: number | null;
  readonly attemptedAt: number;
  /** Null: the last call went well. */
  readonly failingSince: number | null;
  readonly fault: string | null;
}

/** Of a connection, or of all (an empty name); null: it was not called so far. */
export async function getPulse(db: Queryable, unit: string): Promise<Pulse | null> {
  const { rows } = await db.query<Pulse>(
    `select run_id as "runId", ${epochMs('attempted_at')} as "attemptedAt",
       ${epochMs('failing_since')} as "failingSince", fault from pulses where unit = $1`,
    [unit],
  );
  return rows[0] ?? null;
}

/** Notes how a call at `now` (epoch ms) for a run went: a fault, or null. */
export async function notePulse(
  db: pg.Pool,
  unit: string,
  runId: number,
  now: number,
  fault: string | null,
): Promise<void> {
  await db.query(
    `insert into pulses as p (unit, run_id, attempted_at, failing_since, fault)
     values ($1, case when $4::text is null then $2::bigint end, $3, case when $4::text is not null then $3::timestamptz end, $4)
     on conflict (unit) do update set run_id = coalesce(excluded.run_id, p.run_id), attempted_at = excluded.attempted_at,
       failing_since = case when excluded.fault is not null then coalesce(p.failing_since, excluded.failing_since) end,
       fault = excluded.fault`,
    [unit, runId, timestamp(now), fault],
  );
}
