import type { Headings } from '../core/lead/mapping.ts';
import type pg from 'pg';
import type { ConnectionConfig } from '../config/config.ts';
import type { ActionKind, PlannedAction } from '../core/merge/action.ts';
import type { LiveScan } from '../core/merge/live-scan.ts';
import type { Problem } from '../lib/errors.ts';
import type { Action } from '../store/actions.ts';
import type { KnownPlace } from '../store/places.ts';
import type { Run } from '../store/runs.ts';
import { assertPlaceOfUndo, planOfUndo, rememberUndone } from './undo.ts';

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
