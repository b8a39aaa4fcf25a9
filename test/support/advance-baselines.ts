import type { BaselineMove } from '../../src/core/merge/baseline-moves.ts';
import type { Queryable } from '../../src/store/database.ts';
import { moveBaselines } from '../../src/store/baselines.ts';

/** Moves baselines to what both sides were seen to show. */
export function advanceBaselines(
  db: Queryable,
  connection: string,
  moves: readonly Omit<Extract<BaselineMove, { readonly to: 'agreed' }>, 'to'>[],
): Promise<void> {
  return moveBaselines(
    db,
    connection,
    moves.map((move) => ({ to: 'agreed', ...move })),
  );
}
