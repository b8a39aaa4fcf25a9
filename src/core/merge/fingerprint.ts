import { shortHash } from '../lead/content-hash.ts';
import { canonicalJson } from '../lead/value.ts';
import type { Change, PlannedAction } from './action.ts';

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
