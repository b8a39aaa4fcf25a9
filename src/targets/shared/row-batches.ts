import type { TargetRow } from '../../ports/target.ts';

const rowsAtOnce = 1_000;

/** Batches of rows that are already in memory. */
export async function* rowBatches(rows: Iterable<TargetRow>): AsyncGenerator<readonly TargetRow[]> {
  let batch: TargetRow[] = [];
  for (const row of rows) {
    if (batch.push(row) < rowsAtOnce) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
