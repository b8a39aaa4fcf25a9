import type { Cell, Cells, Value } from '../lead/value.ts';
import type { Rule } from './merge-field.ts';

/**
 * The first ten are the contract (docs/architecture.md 8). The others write to neither side: `agree` moves the
 * baseline, `forget` drops a pair that is gone on both sides, `report` only reports.
 */
export const actionKinds = [
  'create-row',
  'update-row',
  'mark-row',
  'remove-row',
  'create-lead',
  'update-lead',
  'delete-lead',
  'hold',
  'link',
  'unlink',
  'agree',
  'forget',
  'report',
] as const;

export type ActionKind = (typeof actionKinds)[number];

/**
 * One field of an action: `from` is what the written side shows, `to` what it will show. In a `hold`, `from` is the
 * lead's value and `to` the row's.
 */
export interface Change {
  readonly from: Cell;
  readonly to: Cell;
  /** The baseline, if there is one. */
  readonly base?: Value;
  readonly rule?: Rule;
}

export type Changes = Readonly<Record<string, Change>>;

/** One step of a plan: frozen plain data. */
export interface PlannedAction {
  readonly kind: ActionKind;
  readonly leadId: string | null;
  /** Where the row was when it was read. For messages; never used to find it. */
  readonly row: number | null;
  /**
   * The content fingerprint by which a row without id is found again. In an `update-lead`: of the row that is linked in
   * the same round; the baseline moves with that link. Otherwise empty.
   */
  readonly contentHash: string;
  readonly changes: Changes;
  /** What the written side must still show just before the write. */
  readonly expect: Cells;
  /** The stable code of why. */
  readonly reason: string;
  /** For people; only where the reason code needs a sentence. */
  readonly message?: string;
}

/** An action; what is not given is empty. */
export function plannedAction(
  kind: ActionKind,
  given: Pick<PlannedAction, 'leadId' | 'reason'> & Partial<PlannedAction>,
): PlannedAction {
  return { row: null, contentHash: '', changes: {}, expect: {}, ...given, kind };
}

/** What the written side shows before these changes. */
export function shownBefore(changes: Changes): Cells {
  return Object.fromEntries(Object.entries(changes).map(([field, { from }]) => [field, from]));
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

/** Not part of the displayed plan. */
export const silentKinds: readonly ActionKind[] = ['agree', 'forget', 'report'];

/** Reports of something that is to be done and cannot be yet: the run puts it off. */
export const putOffReasons: ReadonlySet<string> = new Set(['delete.unproven']);
