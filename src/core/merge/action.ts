import { canonicalJson, type Cell, type Cells, type Value } from '../lead/value.ts';
import type { Rule } from './merge-field.ts';
import { shortHash } from '../lead/content-hash.ts';

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

/** What a row shows, and where it stands. */
export interface RowState {
  readonly row: number;
  readonly cells: Cells;
}

export type Actions = readonly PlannedAction[];

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

const updateKinds: readonly PlannedAction['kind'][] = ['update-lead', 'update-row'];

/**
 * What an action saw, as text: `field:hash` per field of an update, so that an edit of another field does not make it
 * stale; one hash of the whole for other kinds. The row number is not part of it: people sort.
 */
export function fingerprint(action: PlannedAction): string {
  const { kind, leadId, contentHash, changes, expect } = action;
  if (updateKinds.includes(kind))
    return byField(changes, fieldHash)
      .map(([field, hash]) => `${encodeURIComponent(field)}:${hash}`)
      .join(' ');
  return shortHash(
    JSON.stringify([kind, leadId, contentHash, byField(changes, seenOf), byField(expect, canonicalJson)]),
  );
}

/**
 * The part of a current action that a reviewed line covers, and the rest; null when the line's precondition fails:
 * another record, or either side shows something else now. Pure.
 */
export function coveredBy(
  action: PlannedAction,
  line: {
    readonly kind: PlannedAction['kind'];
    readonly leadId: string | null;
    readonly fingerprint: string;
  },
): { readonly covered: PlannedAction; readonly rest: PlannedAction | null } | null {
  if (action.kind !== line.kind || action.leadId !== line.leadId) return null;
  if (fingerprint(action) === line.fingerprint) return { covered: action, rest: null };
  // The single hash of other kinds belongs to no field: it covers nothing.
  const wanted = new Set(line.fingerprint.split(' '));
  const isCovered = ([field, change]: [string, Change]): boolean =>
    wanted.has(`${encodeURIComponent(field)}:${fieldHash(change)}`);
  const covered = only(action, isCovered);
  if (Object.keys(covered.changes).length < wanted.size) return null;
  return { covered, rest: only(action, (entry) => !isCovered(entry)) };
}

function only(action: PlannedAction, keep: (entry: [string, Change]) => boolean): PlannedAction {
  const changes = Object.fromEntries(Object.entries(action.changes).filter(keep));
  const expect = Object.fromEntries(Object.entries(action.expect).filter(([field]) => field in changes));
  return { ...action, changes, expect };
}

function fieldHash(change: Change): string {
  return shortHash(JSON.stringify(seenOf(change))).slice(0, 16);
}

function seenOf({ base, from, to }: Change): readonly (string | null)[] {
  return [base === undefined ? null : canonicalJson(base), canonicalJson(from), canonicalJson(to)];
}

/** By field, in the order of names. */
function byField<T, Made>(
  record: Readonly<Record<string, T>>,
  make: (one: T) => Made,
): readonly (readonly [string, Made])[] {
  return Object.entries(record)
    .map(([field, one]) => [field, make(one)] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}
