import { counted } from '../lead/counted.ts';
import type { ActionKind } from './action.ts';
import type { MarkVerdict } from './table-mark.ts';

/** A limit as `10` (rows) or `10%` (of the known pairs). */
export interface Limit {
  readonly amount: number;
  readonly percent: boolean;
}

/** What the guard looks at: the plan in numbers. */
export interface PlanCounts {
  /** Pairs that were in step before this run. */
  readonly knownPairs: number;
  readonly leads: number;
  /** The service that the baselines come from, when this run asks another one. */
  readonly otherService: string | null;
  readonly byKind: Readonly<Partial<Record<ActionKind, number>>>;
  /** Known pairs whose row is gone and would be written again. */
  readonly rewritten: number;
  /** Null: the place that was kept in step so far, or one that was before. */
  readonly otherPlace: OtherPlace | null;
  /** Rows that the target shows. */
  readonly rows: number;
  /** For each field: known pairs in which the plan changes it. */
  readonly byField: Readonly<Record<string, number>>;
  /** For each field that would be emptied in leads: in how many, and in how many pairs it has a value. */
  readonly emptied: Readonly<Record<string, { readonly emptied: number; readonly filled: number }>>;
  /** Known pairs whose row is a stranger; see `ShuffledRows`. */
  readonly strangers: number;
  /** Fields whose values were only dealt out anew among rows that changed in them, and in how many. */
  readonly permuted: Readonly<Record<string, number>>;
  /** Rows that came by ids that nobody knows, of which as many known pairs have lost their row in the same scan. */
  readonly idsUnknown: number;
  /** What the mark in the table says. */
  readonly mark: MarkVerdict;
}

/** A place that is not known to be the one that was kept in step. */
export interface OtherPlace {
  /** As people call them: this one, and the one that was. */
  readonly here: string;
  readonly before: string;
  /** Of a place to which the other one was moved, as it seems: pairs that were in step there, and rows that show it here. */
  readonly known: number;
  readonly recognised: number;
  /** Of one that was never seen: rows that would become leads, and rows that differ from their leads. */
  readonly newLeads: number;
  readonly differing: number;
}

export interface Refusal {
  /** What `--allow` takes to override it. */
  readonly code: string;
  readonly message: string;
}

export const guardCodes = [
  'other-target',
  'target-gone',
  'older-state',
  'other-keeper',
  'other-service',
  'empty-scan',
  'max-deletes',
  'max-changes',
  'whole-field',
  'rows-shuffled',
  'ids-unknown',
] as const;
type GuardCode = (typeof guardCodes)[number];

/** Below this many records no share of the whole means anything: five leads may well all change in one day. */
const smallNumber = 10;

/** A person mistypes an id or two; from here on a quarter of a small table is no accident of one cell. */
const fewIds = 3;

/**
 * Looks at the plan as a whole before anything is written (docs/architecture.md 6). Pure. Returns what it refuses and why; an empty
 * list lets the plan pass. `allow` names the refusals that a person has overridden for this run.
 */
export function guard(
  counts: PlanCounts,
  limits: { readonly maxDeletes: Limit; readonly maxChanges: Limit },
  allow: readonly string[],
): readonly Refusal[] {
  const { knownPairs, byKind } = counts;
  const refusals: Refusal[] = [];
  const refuse = (code: GuardCode, message: string): void => {
    if (!allow.includes(code)) refusals.push({ code, message });
  };
  const elsewhere = counts.otherPlace === null ? null : describeOther(counts.otherPlace);
  if (elsewhere !== null) refuse('other-target', elsewhere);
  if (knownPairs === 0) return refusals;
  if (counts.rows === 0 && knownPairs >= fewIds) {
    refuse(
      'target-gone',
      `there is no row in the target any more, but ${knownPairs} were in step: nothing was written. Put them back; to have them written anew allow it`,
    );
  }

  if ('by' in counts.mark) refuse(counts.mark.kind, explainMark(counts.mark, knownPairs));
  if (counts.otherService !== null) {
    refuse(
      'other-service',
      `what is remembered of ${knownPairs} leads comes from ${counts.otherService}, but this run asks another service. Use another DATA_DIR and another table for it, unless it is the same service at a new address`,
    );
  }
  if (counts.leads === 0) {
    refuse('empty-scan', `the service returned no lead at all, but ${knownPairs} are known`);
  }
  const deletes = sum(byKind, ['delete-lead', 'remove-row', 'mark-row']);
  const maxDeletes = allowed(limits.maxDeletes, knownPairs, fewDeletes(knownPairs));
  if (deletes > maxDeletes) {
    refuse(
      'max-deletes',
      `${deletes} of ${knownPairs} would be deleted or marked as deleted; the limit is ${maxDeletes}`,
    );
  }
  const { rewritten } = counts;
  const changes = sum(byKind, ['update-row', 'update-lead', 'create-lead']) + rewritten;
  const maxChanges = allowed(limits.maxChanges, knownPairs, smallNumber);
  if (changes > maxChanges) {
    const why =
      rewritten === 0
        ? ''
        : `; ${counted(rewritten, 'of them is a row that is', 'of them are rows that are')} gone and would be written again: is the table cut off or an older copy, or did they lose their ids?`;
    refuse(
      'max-changes',
      `${counted(changes, 'change')} for ${counted(knownPairs, 'known pair')}; the limit is ${maxChanges}${why}`,
    );
  }
  for (const [field, changed] of Object.entries(counts.byField)) {
    if (changed >= knownPairs && knownPairs >= smallNumber) {
      refuse(
        'whole-field',
        `every known pair would change in ${field}: a column that was cleared or filled down?`,
      );
    }
  }
  for (const [field, { emptied, filled }] of Object.entries(counts.emptied)) {
    const isWhole = (counts.byField[field] ?? 0) >= knownPairs;
    if (emptied >= filled && emptied >= smallNumber && !isWhole) {
      refuse(
        'whole-field',
        `all ${filled} leads that have something in ${field} would be emptied: a column that was cleared, or made anew?`,
      );
    }
  }
  const areStrangers = counts.strangers >= smallNumber && counts.strangers * 20 >= knownPairs;
  if (areStrangers) {
    refuse(
      'rows-shuffled',
      `${counts.strangers} rows show other values than before in every column at once: was part of the table sorted, so that ids stand beside the values of other leads? Undo the sorting in the table`,
    );
  }
  for (const [field, rows] of Object.entries(counts.permuted)) {
    if (!areStrangers && rows >= smallNumber) {
      refuse(
        'rows-shuffled',
        `${rows} rows show another value in ${field}, and all of these are values that the others of them had before: was part of the table sorted? Undo the sorting in the table`,
      );
    }
  }
  const { idsUnknown } = counts;
  if (
    (idsUnknown >= fewIds && idsUnknown * 4 >= knownPairs) ||
    (idsUnknown >= smallNumber && idsUnknown * 20 >= knownPairs)
  ) {
    refuse(
      'ids-unknown',
      `${idsUnknown} rows have ids that nobody knows, and as many of ${knownPairs} known rows are gone since the last sync: was the id column changed? Put the ids back in the table; a row whose id is emptied gets it again where it shows what its lead shows`,
    );
  }
  return refusals;
}

/** So many rows that show what is remembered are proof enough that a place is the same. */
const enoughRecognised = 20;

/** Null: nothing speaks against it. */
function describeOther({ here, before, known, recognised, newLeads, differing }: OtherPlace): string | null {
  const take = `If ${here} is to be kept in step from now on as a table of its own, allow it`;
  if (known > 0) {
    if (recognised >= Math.min(enoughRecognised, known * 0.8)) return null;
    return `${before} is not there any more, but ${here} does not show what was in step there: only ${recognised} of ${known} rows do. ${take}`;
  }
  if (newLeads + differing === 0) return null;
  return `${here} is another place than ${before}, which was kept in step so far: ${newLeads} of its rows would become leads, ${differing} differ from their leads. ${take}; else set the target back`;
}

function explainMark(verdict: Extract<MarkVerdict, { readonly by: string }>, known: number): string {
  const { kind, by } = verdict;
  const allowed = `Once it is allowed, the ${known} known pairs are compared as at first sight, and what differs is held`;
  if ('backedUpAt' in verdict)
    return `the state came out of a backup of ${verdict.backedUpAt.toISOString()}, and what both sides agreed on since is not known: what looks like an edit may be an older value. ${allowed}`;
  switch (kind) {
    case 'older-state':
      return `the table was written by a newer or another copy of this state (its mark is not known here): was the state restored from a backup, or does a copy of it, for tests perhaps, sync the same table? Give the copy another table, and a database of its own. ${allowed}`;
    case 'other-keeper':
      return `another leadsync has written into this table since the last sync from here (its connection ${by}): two that keep one table undo each other's work. Stop the other one, or give one of them another table. ${allowed}`;
    default:
      return `the table is a copy of what the connection ${by} has written elsewhere. Put back the table that belongs here, or set the right one as the target. ${allowed}`;
  }
}

/** A number of rows is what the user typed; a share always lets `few` pass. */
function allowed(limit: Limit, known: number, few: number): number {
  return limit.percent ? Math.max(few, Math.floor((known * limit.amount) / 100)) : limit.amount;
}

/** Deletes that no share forbids: one or two a day are ordinary in a small team, most of its leads are not. */
function fewDeletes(known: number): number {
  return Math.min(smallNumber, Math.max(1, Math.floor(known / 4)));
}

function sum(byKind: PlanCounts['byKind'], kinds: readonly ActionKind[]): number {
  return kinds.reduce((total, kind) => total + (byKind[kind] ?? 0), 0);
}
