import type pg from 'pg';
import type { ConnectionConfig } from '../config/config.ts';
import { hashContent } from '../core/lead/content-hash.ts';
import type { Cells } from '../core/lead/value.ts';
import type { PlannedAction } from '../core/merge/action.ts';
import { type NewConflict, undoneMessages } from '../core/merge/holds.ts';
import { planUndo, putsBack } from '../core/merge/undo.ts';
import type { Headings } from '../core/lead/mapping.ts';
import type { LiveScan } from '../core/merge/live-scan.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { type Action, writtenCells } from '../store/actions.ts';
import { recordConflicts } from '../store/conflicts.ts';
import { shownRunChanges } from '../store/history.ts';
import { sightedLeads } from '../store/run-sights.ts';
import { abandonIntentsOf } from '../store/intents.ts';
import { keepUndone, type MatchLine, storeMatches } from '../store/held.ts';
import { currentPlace, type KnownPlace, placeById, placeNames } from '../store/places.ts';
import { getRun, type Run } from '../store/runs.ts';

export async function* planOfUndo(
  pool: pg.Pool,
  run: Parameters<typeof shownRunChanges>[2],
  scan: LiveScan,
  headings: Headings,
): AsyncGenerator<readonly PlannedAction[]> {
  for await (const { lead, row, rowNumber, isPaused, ...changes } of shownRunChanges(pool, scan, run))
    yield planUndo(changes, { lead, row: row && { row: rowNumber ?? 0, cells: row }, headings, isPaused });
}

/** Throws `undo.other-place` unless `seen` is where run `undoOf` wrote. */
export async function assertPlaceOfUndo(
  db: pg.Pool,
  { connection }: Run,
  undoOf: number,
  seen: Pick<KnownPlace, 'id' | 'address' | 'identity'>,
): Promise<void> {
  const place = (await getRun(db, undoOf))?.place ?? null;
  if (place === null || place === seen.id) return;
  const [was, current] = [await placeById(db, place), await currentPlace(db, connection)];
  // The same place, moved.
  if (current?.id === place) return;
  const { here, before } = placeNames({
    here: seen,
    before: was ?? { address: 'another place', identity: '' },
  });
  throw new LeadsyncError(
    'undo.other-place',
    `run ${undoOf} wrote to ${before}, but the target is ${here} now: nothing was put back`,
    { help: 'Set the target back to undo it.' },
  );
}

/** So that the next sync does not make the same again: it holds the lead or row that is left until that shows something else. */
export async function rememberUndone(
  db: pg.PoolClient,
  { fields, sync }: ConnectionConfig,
  run: Run,
  undoOf: number,
  actions: readonly Action[],
): Promise<void> {
  const { connection } = run;
  const done = actions.filter(putsBack);
  if (done.length === 0) return;
  const leadIds = (...kinds: readonly Action['kind'][]): readonly string[] =>
    done.flatMap(({ kind, leadId }) => (kinds.includes(kind) && leadId !== null ? [leadId] : []));
  const leads = await sightedLeads(db, run, leadIds('remove-row', 'unlink'));
  const marked = fields.filter(({ field }) => sync.matchBy.includes(field));
  const parted: MatchLine[] = [];
  const left: (NewConflict & { readonly contentHash: string; readonly cells: Cells })[] = [];
  for (const { kind, reason, leadId, row, expect, changes } of done) {
    const lead = leads.get(leadId ?? '');
    const cells = kind === 'unlink' ? { ...expect, ...writtenCells(changes) } : lead;
    if (cells === undefined || (kind !== 'unlink' && kind !== 'remove-row')) continue;
    const shown = { cells, contentHash: hashContent(cells, fields) };
    if (reason === 'unmatched') {
      const marks = { leadMark: null, rowMark: hashContent(cells, marked) };
      const match = { leadId: leadId ?? '', lead: lead ?? {}, row: row ?? 0, ...shown, ...marks };
      parted.push({ ...match, score: 1, why: 'an undo took them apart', state: 'undone' });
    } else {
      const code = kind === 'unlink' ? 'row.undone' : 'lead.undone';
      const place = kind === 'unlink' ? { leadId: null, row } : { leadId, row: null };
      left.push({ ...place, ...shown, code, message: undoneMessages[code] });
    }
  }
  // From now on they are proposed, not linked.
  if (parted.length > 0) await storeMatches(db, connection, parted, true);
  // Recorded under the run that was undone: this one has finished its work.
  await recordConflicts(db, { id: undoOf, connection, round: 0 }, left);
  const records = left.map((one) => ({ ...one, leadId: one.leadId ?? '' }));
  if (records.length > 0) await keepUndone(db, connection, records);
  await abandonIntentsOf(db, connection, leadIds('unlink', 'delete-lead'));
}
