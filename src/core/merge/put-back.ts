import type { Cell, Value } from '../lead/value.ts';
import type { Change } from './action.ts';

/**
 * The rules of writes after which the baseline stays when they are put back: one side had been edited, so what is put
 * back is an edit of the other one, which travels.
 */
const plainEdits: readonly string[] = ['row-edited', 'lead-edited'];

/** Whether an undo wrote it: on one side only, the other one was left as it was. */
export function isPutBack(rule: string): boolean {
  return rule === 'undone' || rule === 'reopened';
}

/**
 * The change that puts a value back. Where the run had decided between two values (a policy, a person, a direction, an
 * empty side), the baseline goes back too: the two stand against each other as before.
 */
export function putBack(
  { rule, base }: { readonly rule: string; readonly base?: Value | undefined },
  from: Cell,
  to: Cell,
): Change {
  if (plainEdits.includes(rule) || isPutBack(rule)) return { from, to, rule: 'undone' };
  return { from, to, rule: 'reopened', ...(base !== undefined && { base }) };
}

/** The baselines to restore with the changes of an undo: undefined where the two sides had never been in step. */
export function reopenedBases(changes: Readonly<Record<string, Change>>): Record<string, Value | undefined> {
  const reopened = Object.entries(changes).filter(([, { rule }]) => rule === 'reopened');
  return Object.fromEntries(reopened.map(([field, { base }]) => [field, base]));
}
