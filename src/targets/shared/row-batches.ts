import { batchesBySize } from '../../core/lead/text-size.ts';
import type { TargetRow } from '../../ports/target.ts';

const rowsAtOnce = 1_000;

export async function* rowBatches(rows: Iterable<TargetRow>): AsyncGenerator<readonly TargetRow[]> {
  yield* batchesBySize(rows, () => rowsAtOnce);
}
