import type pg from 'pg';
import { LeadsyncError } from '../errors.ts';
import type { PlannedAction } from '../core/merge/action.ts';
import { planUndo } from '../core/merge/undo.ts';
import { stagedDeeds } from '../store/deeds.ts';
import { currentPlace, type KnownPlace, placeById } from '../store/places.ts';
import { getRun, type Run } from '../store/runs.ts';

/** The plan of an undo, lead by lead, from what the run did and what the scan of this one shows; null for any other run. */
export function actionsOfUndo(pool: pg.Pool, run: Run): AsyncIterable<readonly PlannedAction[]> | null {
  const { id, undoOf, connection } = run;
  return undoOf === null ? null : planned(pool, { id, undoOf, connection });
}

async function* planned(
  pool: pg.Pool,
  run: Parameters<typeof stagedDeeds>[1],
): AsyncGenerator<readonly PlannedAction[]> {
  for await (const { lead, row, rowNumber, ...deeds } of stagedDeeds(pool, run))
    yield planUndo(deeds, { lead, row: row && { row: rowNumber ?? 0, cells: row } });
}

/** Throws `undo.other-place` for an undo elsewhere than where the run wrote: only there it can be put back. */
export async function assertPlaceOfUndo(
  db: pg.Pool,
  { undoOf, connection }: Run,
  seen: Pick<KnownPlace, 'id' | 'address'>,
): Promise<void> {
  const place = undoOf === null ? null : ((await getRun(db, undoOf))?.place ?? null);
  if (place === null || place === seen.id) return;
  const [was, current] = [await placeById(db, place), await currentPlace(db, connection)];
  // Found elsewhere: the same, moved.
  if (current?.id === place) return;
  throw new LeadsyncError(
    'undo.other-place',
    `run ${undoOf} wrote to ${was?.address ?? 'another place'}, but the target is ${seen.address} now: nothing was put back`,
    { help: 'Set the target back to undo it.' },
  );
}
