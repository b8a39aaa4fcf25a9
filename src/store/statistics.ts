import type pg from 'pg';

/** Below it Postgres joins fast in any way; above, its planner has to know what there is. */
const manyRecords = 5_000;

/** Whether this many new records need statistics. */
export function isMany(records: number): boolean {
  return records >= manyRecords;
}

/**
 * Tells the planner of Postgres of the actions of a large plan: of a new run it knows nothing otherwise, and takes it for one
 * action. Not within a transaction: two runs would wait for each other.
 */
export async function analyzeActions(pool: pg.Pool): Promise<void> {
  await pool.query(`analyze actions (id, run_id, round, kind, state, lead_id)`);
}

/** The same for the pairs, of which a large scan has brought many new ones. */
export async function analyzePairs(pool: pg.Pool): Promise<void> {
  await pool.query(`analyze pairs (connection, lead_id)`);
}
