import type { ActionKind } from '../core/merge/action.ts';
import type { Problem } from '../errors.ts';
import type { Run } from '../store/runs.ts';

/** How far a run goes, by what it is for. */
export interface RunPolicy {
  /** It does whatever it decides; else only what a person has reviewed. */
  readonly doesAll: boolean;
  /** It looks at every record, at what is held and at creates of before; an undo at what it puts back alone. */
  readonly seesAll: boolean;
  /** What is done to a row only when the service has proven that its lead is gone. */
  readonly toProve: readonly ActionKind[];
  /** The problem when there is nothing to do; null: none. */
  readonly idle: Problem | null;
  /** What its report says of itself. */
  readonly told: { readonly undoOf?: string };
}

/** The policy of a sync, of the application of reviewed lines, or of an undo. */
export function runPolicy({ approval, undoOf }: Pick<Run, 'approval' | 'undoOf'>): RunPolicy {
  if (undoOf === null) {
    const toProve: readonly ActionKind[] = ['unlink', 'mark-row', 'remove-row'];
    return { doesAll: approval === null, seesAll: true, toProve, idle: null, told: {} };
  }
  const message = `nothing was put back: run ${undoOf} wrote nothing, or what it wrote is as it was before already`;
  return {
    doesAll: false,
    seesAll: false,
    // The mark or the row that an undo takes away was made by a run: there is no deletion to prove.
    toProve: ['unlink'],
    idle: { code: 'undo.nothing', message },
    told: { undoOf: String(undoOf) },
  };
}
