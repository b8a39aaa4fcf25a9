import type pg from 'pg';
import { oneOf, type Queryable } from './database.ts';

/** Below it Postgres joins fast in any way; above, its planner has to know what there is. */
const manyRecords = 5_000;

/** Whether this many new records need statistics. */
export function isMany(records: number): boolean {
  return records >= manyRecords;
}

/**
 * Tells the planner what a large run has staged. Of a new run it knows nothing otherwise, takes it for one record, and
 * compares each row with each lead. Not within a transaction: two runs would wait for each other.
 */
export async function analyzeStaged(pool: pg.Pool): Promise<void> {
  await pool.query(
    `analyze staged_leads (run_id, lead_id), staged_rows (run_id, lead_id, duplicate), absent_pairs (run_id, lead_id)`,
  );
}

/** The same for the actions of a large plan. */
export async function analyzeActions(pool: pg.Pool): Promise<void> {
  await pool.query(`analyze actions (id, run_id, round, kind, state, lead_id)`);
}

/** The same for the pairs, of which a large scan has brought many new ones. */
export async function analyzePairs(pool: pg.Pool): Promise<void> {
  await pool.query(`analyze pairs (connection, lead_id)`);
}

/** How many records of a run are staged. */
export async function countStaged(db: Queryable, runId: number): Promise<number> {
  const text = `select (select count(*) from staged_leads where run_id = $1) + (select count(*) from staged_rows where run_id = $1)
       + (select count(*) from absent_pairs where run_id = $1) as count`;
  return (await oneOf<{ count: number }>(db, text, [runId])).count;
}
