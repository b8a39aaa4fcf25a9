import type { Cell, Value } from '../lead/value.ts';
import type { Change, Changes, PlannedAction } from './action.ts';

/** Rules of writes to the lead alone: its row gets the value by the next sync. */
export const leadAlone: readonly string[] = ['requested', 'overwritten'];

/** Undoing these keeps the baseline: one side had been edited, so the restored value travels as an edit of the other. */
const plainEdits: readonly string[] = ['row-edited', 'lead-edited', ...leadAlone];

/** Whether an action puts back what a run did; `unmatched`: its row and its lead were two, and become two again. */
export function putsBack({ reason }: Pick<PlannedAction, 'reason'>): boolean {
  return reason === 'undone' || reason === 'unmatched';
}

/** A record that an action removes, field by field; `rule`: why, unless by an undo. */
export function takenAway(action: PlannedAction, rule: 'lead-edited' | 'row-edited'): Changes {
  return Object.fromEntries(
    Object.entries(action.expect).map(([field, from]) => {
      return [field, { from, to: null, rule: putsBack(action) ? 'undone' : rule }] as const;
    }),
  );
}

/** Whether an undo wrote it: on one side only. */
export function isPutBack(rule: string): boolean {
  return rule === 'undone' || rule === 'reopened';
}

/**
 * The change that restores a value. Where the run had decided between two values (policy, person, direction, empty
 * side), the baseline is restored too: the conflict is open again.
 */
export function putBack(
  { rule, base }: { readonly rule: string; readonly base?: Value | undefined },
  from: Cell,
  to: Cell,
): Change {
  if (plainEdits.includes(rule) || isPutBack(rule)) return { from, to, rule: 'undone' };
  return { from, to, rule: 'reopened', ...(base !== undefined && { base }) };
}

/** The baselines that an undo restores; undefined: there was none. */
export function reopenedBases(changes: Readonly<Record<string, Change>>): Record<string, Value | undefined> {
  const reopened = Object.entries(changes).filter(([, { rule }]) => rule === 'reopened');
  return Object.fromEntries(reopened.map(([field, { base }]) => [field, base]));
}
