import type pg from 'pg';

/** Few enough that each statement is short. */
export const usualBatchSize = 1_000;

/**
 * Deletes what `old` chooses (a query for the key of `table`, with $1, $2 … of `values`), few rows in each statement, so that none
 * holds locks for long, until nothing is left or `stop` aborts. What another process deletes at that moment is passed over.
 * Returns how many were deleted.
 */
export async function deleteInBatches(
  pool: pg.Pool,
  { table, key, old }: { readonly table: string; readonly key: 'id' | 'ctid'; readonly old: string },
  values: readonly unknown[],
  stop: AbortSignal,
  batchSize = usualBatchSize,
): Promise<number> {
  // An array: chosen once, and each row found by its place, whatever way the planner takes.
  const text = `delete from ${table} where ${key} = any(array(${old} limit ${batchSize} for update of t skip locked))`;
  let total = 0;
  for (let deleted = batchSize; deleted >= batchSize && !stop.aborted; total += deleted) {
    const { rowCount } = await pool.query(text, [...values]);
    deleted = rowCount ?? 0;
  }
  return total;
}
