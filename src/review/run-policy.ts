import type { Headings } from '../core/lead/mapping.ts';
import type pg from 'pg';
import type { ConnectionConfig } from '../config/config.ts';
import type { ActionKind, PlannedAction } from '../core/merge/action.ts';
import type { LiveScan } from '../core/merge/live-scan.ts';
import { type Problem, LeadsyncError } from '../lib/errors.ts';
import { type Action, writtenCells } from '../store/actions.ts';
import { type KnownPlace, currentPlace, placeById, placeNames } from '../store/places.ts';
import { type Run, getRun } from '../store/runs.ts';
import { hashContent } from '../core/lead/content-hash.ts';
import type { Cells } from '../core/lead/value.ts';
import { undoneMessages, type NewConflict } from '../core/merge/holds.ts';
import { putsBack, planUndo } from '../core/merge/undo.ts';
import { recordConflicts } from '../store/conflicts.ts';
import { shownRunChanges } from '../store/history.ts';
import { sightedLeads } from '../store/run-sights.ts';
import { abandonIntentsOf } from '../store/intents.ts';
import { keepUndone, type MatchLine, storeMatches } from '../store/held.ts';

/** What a run may do, by what it is for: a sync, reviewed lines of a plan, an undo, or requested edits. */
export interface RunPolicy {
  /** It carries out whatever it decides; else only what a person has reviewed. */
  readonly doesAll: boolean;
  /** It looks at every record, conflict and unfinished create; an undo looks only at what it puts back. */
  readonly seesAll: boolean;
  /** It writes to leads alone; baselines and rows are left to the next sync. */
  readonly leadsAlone: boolean;
  /** The changes of a row that need a proof that its lead is gone. */
  readonly toProve: readonly ActionKind[];
  /** The problem of a run without changes, or null. */
  readonly idle: Problem | null;
  readonly named: { readonly undoOf?: string };
  /** Of a run that does not compare the two sides; null: it compares them. */
  readonly plan:
    | ((
        pool: pg.Pool,
        run: Run,
        scan: LiveScan,
        headings: Headings,
      ) => AsyncIterable<readonly PlannedAction[]>)
    | null;
  /** Throws `undo.other-place` unless the run may write there. */
  assertPlace(db: pg.Pool, run: Run, seen: Pick<KnownPlace, 'id' | 'address' | 'identity'>): Promise<void>;
  /** Stores what follows from these actions beside outcomes and baselines. */
  remember(db: pg.PoolClient, settings: ConnectionConfig, run: Run, done: readonly Action[]): Promise<void>;
}

export function runPolicy({ mode, approval, undoOf }: Pick<Run, 'mode' | 'approval' | 'undoOf'>): RunPolicy {
  const leadsAlone = mode === 'edit';
  if (undoOf === null)
    return {
      doesAll: approval === null && !leadsAlone,
      seesAll: !leadsAlone,
      leadsAlone,
      toProve: ['unlink', 'mark-row', 'remove-row'],
      idle: null,
      named: {},
      plan: null,
      assertPlace: async () => {},
      remember: async () => {},
    };
  const message = `nothing was put back: run ${undoOf} wrote nothing, or what it wrote is as it was before already`;
  return {
    doesAll: false,
    seesAll: false,
    leadsAlone,
    // An undo takes away marks and rows that a run made: no lead was deleted.
    toProve: ['unlink'],
    idle: { code: 'undo.nothing', message },
    named: { undoOf: String(undoOf) },
    plan: (pool, { connection }, scan, headings) => planOfUndo(pool, { undoOf, connection }, scan, headings),
    assertPlace: (db, run, seen) => assertPlaceOfUndo(db, run, undoOf, seen),
    remember: (db, settings, run, done) => rememberUndone(db, settings, run, undoOf, done),
  };
}

async function* planOfUndo(
  pool: pg.Pool,
  run: Parameters<typeof shownRunChanges>[2],
  scan: LiveScan,
  headings: Headings,
): AsyncGenerator<readonly PlannedAction[]> {
  for await (const { lead, row, rowNumber, isPaused, ...changes } of shownRunChanges(pool, scan, run))
    yield planUndo(changes, { lead, row: row && { row: rowNumber ?? 0, cells: row }, headings, isPaused });
}

/** Throws `undo.other-place` unless `seen` is where run `undoOf` wrote. */
async function assertPlaceOfUndo(
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
async function rememberUndone(
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
