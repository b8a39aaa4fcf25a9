import type { TargetRow } from './target.ts';

const rowsAtOnce = 1_000;

/** Rows that were read at once, as a snapshot gives them. */
export async function* rowBatches(rows: readonly TargetRow[]): AsyncGenerator<readonly TargetRow[]> {
  for (let at = 0; at < rows.length; at += rowsAtOnce) yield rows.slice(at, at + rowsAtOnce);
}
