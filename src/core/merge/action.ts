import type { Cell, Cells, Value } from '../lead/value.ts';
import type { Rule } from './merge-field.ts';

/**
 * What one action does. The first ten are the contract (docs/architecture.md 8). The others write to neither side: `agree` moves
 * the baseline, `forget` drops a pair that is gone on both sides, `report` only tells.
 */
export type ActionKind =
  | 'create-row'
  | 'update-row'
  | 'mark-row'
  | 'remove-row'
  | 'create-lead'
  | 'update-lead'
  | 'delete-lead'
  | 'hold'
  | 'link'
  | 'unlink'
  | 'agree'
  | 'forget'
  | 'report';

/**
 * One field of an action. `from` is what the side that will be written shows, `to` what it will show; in a `hold`,
 * `from` is the lead's value and `to` the row's.
 */
export interface Change {
  readonly from: Cell;
  readonly to: Cell;
  /** The value both sides last agreed on, when there is one. */
  readonly base?: Value;
  readonly rule?: Rule;
}

export type Changes = Readonly<Record<string, Change>>;

/** One step of a plan: frozen plain data. */
export interface PlannedAction {
  readonly kind: ActionKind;
  readonly leadId: string | null;
  /** Where the row stood when it was read. For people; never used to find it. */
  readonly row: number | null;
  /**
   * For a row without id: the fingerprint of its content, by which it is found again. In an `update-lead`: of the row that is
   * linked to the lead in the same round, with which the baseline moves. Otherwise empty.
   */
  readonly rowKey: string;
  readonly changes: Changes;
  /** What the written side must still show just before the write. */
  readonly expect: Cells;
  /** A stable code of why. */
  readonly reason: string;
  /** A sentence for people; only where the reason code needs one. */
  readonly message?: string;
}

/** Kinds that write to the target. */
export const rowKinds: readonly ActionKind[] = [
  'create-row',
  'update-row',
  'link',
  'unlink',
  'mark-row',
  'remove-row',
];

/** Kinds that are no part of the plan that is shown. */
export const silentKinds: readonly ActionKind[] = ['agree', 'forget', 'report'];
