import type pg from 'pg';
import { LeadsyncError } from '../errors.ts';
import type { PlannedAction } from '../core/merge/action.ts';
import { planUndo } from '../core/merge/undo.ts';
import { stagedDeeds } from '../store/deeds.ts';
import { currentPlace, type KnownPlace, placeById } from '../store/places.ts';
import { getRun, type Run } from '../store/runs.ts';

/** The plan of an undo, lead by lead, from what run `undoOf` did and what the scan of run `id` shows. */
export async function* planOfUndo(
  pool: pg.Pool,
  run: Parameters<typeof stagedDeeds>[1],
): AsyncGenerator<readonly PlannedAction[]> {
  for await (const { lead, row, rowNumber, ...deeds } of stagedDeeds(pool, run))
    yield planUndo(deeds, { lead, row: row && { row: rowNumber ?? 0, cells: row } });
}

/** Throws `undo.other-place` unless `seen` is where run `undoOf` wrote. */
export async function assertPlaceOfUndo(
  db: pg.Pool,
  { connection }: Run,
  undoOf: number,
  seen: Pick<KnownPlace, 'id' | 'address'>,
): Promise<void> {
  const place = (await getRun(db, undoOf))?.place ?? null;
  if (place === null || place === seen.id) return;
  const [was, current] = [await placeById(db, place), await currentPlace(db, connection)];
  // The same place, moved.
  if (current?.id === place) return;
  throw new LeadsyncError(
    'undo.other-place',
    `run ${undoOf} wrote to ${was?.address ?? 'another place'}, but the target is ${seen.address} now: nothing was put back`,
    { help: 'Set the target back to undo it.' },
  );
}
