import { type Cell, type Cells, isUnreadable, sameCell, type Values } from '../lead/value.ts';
import { type DeleteAnswer, deleteQuestions, type HeldRecords, isDeleteAnswer } from './holds.ts';
import type { FieldMemo } from './merge-field.ts';
import type { MergedPlace } from '../lead/table-rows.ts';
import { isUuid } from '../lead/lead-id.ts';
import { sameRecord } from './plan.ts';
import type { Policy } from './policy.ts';

/** Whether a record that a side did not show may be gone. */
export interface AbsenceProof {
  readonly leads: boolean;
  readonly rows: boolean;
  /** Of a lead that a scan did not show, and that is gone by its id as well. */
  readonly answers: boolean;
  /** Of a row whose lead the scan did not show either: a lead outside of a filter may come back. */
  readonly rowsAlone: boolean;
  /** When the scan began (epoch ms), and how long after the first absence (ms) another one counts. */
  readonly at: number;
  readonly proveAfter: number;
}

/** What is held of a lead, with the values both sides showed then. Without a field: the record. */
export interface HeldField {
  readonly field: string;
  readonly code: string;
  readonly resolution: 'lead' | 'target' | DeleteAnswer | null;
  readonly lead: Cell;
  readonly row: Cell;
  /** Of a delete both records, as they were when a person was asked. */
  readonly records?: HeldRecords | null;
}

/** A lead id of which a scan showed something else than its baseline, or nothing. */
export interface Sight {
  readonly leadId: string;
  /** Whether it is a pair. */
  readonly isKnown: boolean;
  readonly base: Values | null;
  /** Both sides were staged and show the same; then neither is given. */
  readonly isSame: boolean;
  /** Null: as in the baseline, or missed. */
  readonly lead: Cells | null;
  readonly row: Cells | null;
  readonly rowNumber: number | null;
  /** The sides on which the scan missed the pair. */
  readonly missed: { readonly lead: boolean; readonly row: boolean };
  /** How often each was missed in a row, as far as it counts; `isCounted`: this run is in it. */
  readonly leadAbsences: number;
  readonly rowAbsences: number;
  readonly isCounted: boolean;
  /** When the side that was missed last was first missed (epoch ms). */
  readonly absentSince: number | null;
  readonly deletionDone: boolean;
  /** Where its missing row went. */
  readonly merged: MergedPlace | null;
  /** Of the lead by its id; null: the service was not asked. */
  readonly asked: Asked | null;
  readonly held: readonly HeldField[];
  /** A further row has the same id. */
  readonly isCopied: boolean;
  /** Its row is paused: neither side shows anything, and none is missed. */
  readonly isPaused?: boolean;
}

/** A lead id on which the two sides do not show the same: what each shows, and absences with this scan. */
export interface Difference extends Sight {
  /** A person has decided that the row which an undo took away is written again. */
  readonly isWanted: boolean;
}

/** Whether a record shows the baseline in every field that it has. */
export function showsBase(cells: Cells, base: Values | null): boolean {
  if (base === null) return false;
  for (const field in cells) {
    const value = base[field];
    if (value === undefined || !sameCell(cells[field] ?? null, value)) return false;
  }
  return true;
}

/** Null: both sides show the same. What is not staged is as in the baseline. Absences count this scan where it is proof. */
export function differenceOf(sight: Sight, isProof: AbsenceProof): Difference | null {
  const { base, missed, held } = sight;
  if (sight.isSame) return null;
  // A lead that was met twice is staged, also as it was.
  if (sight.row === null && !missed.row && sight.lead !== null && showsBase(sight.lead, base)) return null;
  const lead = sight.lead ?? (missed.lead ? null : base);
  const row = sight.row ?? (missed.row ? null : base);
  const isFurther = minutes(isProof.at - (sight.absentSince ?? isProof.at)) >= minutes(isProof.proveAfter);
  const count = (before: number, isMissed: boolean): number =>
    before + Number(isMissed && !sight.isCounted && (before === 0 || isFurther));
  const isLeadProof = isProof.leads || (isProof.answers && sight.asked?.answer === 'gone');
  const isRowProof = isProof.rows && (isProof.rowsAlone || !missed.lead);
  return {
    ...sight,
    lead,
    row,
    leadAbsences: lead === null ? count(sight.leadAbsences, isLeadProof) : 0,
    rowAbsences: row === null ? count(sight.rowAbsences, isRowProof) : 0,
    isWanted: held.some(({ code, resolution }) => code === 'lead.undone' && resolution !== null),
  };
}

/** Whole ones: the runs of a schedule begin some seconds early or late. */
const minutes = (ms: number): number => Math.round(ms / 60_000);

/** What a scan proves of a pair that was missed, or had been before. */
export interface Absences {
  readonly leadId: string;
  readonly lead: number;
  readonly row: number;
  /** As in `Sight.absentSince`. */
  readonly since: number | null;
  /** Where its row stands now; null: as before. */
  readonly place: number | null;
}

/**
 * The absences of a pair after this scan; null: as before. A run counts each once. A merged row is there; one that a row of
 * the table may be (`isUndecided`) is not counted.
 */
export function absencesAfter(
  sight: Sight,
  difference: Difference | null,
  isUndecided: boolean,
  at: number,
): Absences | null {
  const { leadId, isKnown, missed, merged } = sight;
  const wasMissed = sight.leadAbsences + sight.rowAbsences > 0;
  const isCounting = (missed.lead || missed.row) && !sight.isCounted;
  if (!isKnown || (!isCounting && !wasMissed)) return null;
  const seen = isUndecided && missed.row ? sight.rowAbsences : (difference?.rowAbsences ?? 0);
  const [lead, row] = [difference?.leadAbsences ?? 0, merged === null ? seen : 0];
  const isFirst = (lead > 0 && sight.leadAbsences === 0) || (row > 0 && sight.rowAbsences === 0);
  const since = isFirst ? at : (sight.absentSince ?? at);
  return {
    leadId,
    lead,
    row,
    since: lead + row > 0 ? since : null,
    place: merged?.row ?? null,
  };
}

/** What was held or decided is valid only while both sides show the values of that time. */
export function memoOf({ held }: Sight, lead: Cells | null, row: Cells | null): Record<string, FieldMemo> {
  const memo: Record<string, FieldMemo> = {};
  for (const { field, code, resolution, ...then } of held) {
    if (field === '' || isDeleteAnswer(resolution)) continue;
    const covered = isUnreadable(then.row) && then.row.why === 'merged';
    const putBack = code === 'row.put-back' ? 'row' : code === 'lead.put-back' ? 'lead' : null;
    const isAsThen = sameCell(then.lead, lead?.[field] ?? null) && sameCell(then.row, row?.[field] ?? null);
    if (isAsThen) memo[field] = { resolution, refused: code === 'lead.field-refused', covered, putBack };
    else if (covered) memo[field] = { covered };
  }
  return memo;
}

/** What a person answered about a delete, while the record that is left shows what it showed then. */
export function deleteAnswerOf(
  { held }: Pick<Sight, 'held'>,
  lead: Cells | null,
  row: Cells | null,
): DeleteAnswer | null {
  for (const { code, resolution, records } of held) {
    if (!isDeleteAnswer(resolution)) continue;
    const [left, then] = code === deleteQuestions.row ? [lead, records?.lead] : [row, records?.row];
    if (left && then && isSameRecord(left, then)) return resolution;
  }
  return null;
}

function isSameRecord(one: Cells, other: Cells): boolean {
  const fields = Object.keys({ ...one, ...other });
  return fields.every((field) => sameCell(one[field] ?? null, other[field] ?? null));
}

/** A row that no lead id names: it has none, or one that an earlier row has. */
export interface LooseRow {
  readonly row: number;
  readonly leadId: string | null;
  readonly unreadableId: string | null;
  readonly idClosed: string | null;
  /** It stands apart from the table. */
  readonly isApart: boolean;
  readonly isPaused?: boolean;
  readonly cells: Cells;
  readonly contentHash: string;
}

/** What is known of rows that no lead id names, which it sees in the target's order, after all pairs. */
export class LooseRows {
  /** Of rows that are alike the further ones are held by a number of their own. */
  readonly #alike = new Map<string, number>();
  /** The leads whose rows were merged into a row, as far as the service has them. */
  readonly #mergedInto = new Map<number, string[]>();
  readonly #decided: ReadonlySet<string>;
  readonly #released: ReadonlySet<string>;

  /** `decided`: keys of rows of which a lead is wanted; `released`: contents of rows that gave up their ids, wherever they stand. */
  constructor(decided: ReadonlySet<string>, released: ReadonlySet<string>) {
    this.#decided = decided;
    this.#released = released;
  }

  seePair({ leadId, merged, missed }: Sight): void {
    if (merged === null || missed.lead) return;
    this.#mergedInto.set(merged.row, [...(this.#mergedInto.get(merged.row) ?? []), leadId]);
  }

  see(
    loose: LooseRow,
  ): LooseRow & { readonly isWanted: boolean; readonly mergedOf: readonly string[] | undefined } {
    const { leadId, contentHash } = loose;
    const place = JSON.stringify([leadId, contentHash]);
    const count = (this.#alike.get(place) ?? 0) + 1;
    this.#alike.set(place, count);
    return {
      ...loose,
      mergedOf: this.#mergedInto.get(loose.row),
      isApart: loose.isApart && !this.#released.has(contentHash),
      isWanted: this.#decided.has(count === 1 ? contentHash : `${contentHash}#${count}`),
    };
  }
}

/** Counts the records of a scan: leads, and rows that belong to none of them; a second row with one id is none. */
export class RecordTally {
  #records = 0;
  #equal = 0;
  /** Pairs that show their baseline on neither side. */
  #movedOnBoth = 0;
  readonly #copied = new Set<string>();

  see(sight: Sight, difference: Difference | null): void {
    const { leadId, isKnown, isSame, missed, isCopied } = sight;
    if (isKnown) {
      if (missed.lead && missed.row) this.#records -= 1;
      const isLeadMoved = isSame || sight.lead !== null || missed.lead;
      const isRowMoved = isSame || sight.row !== null || missed.row;
      if (isLeadMoved && isRowMoved) this.#movedOnBoth += 1;
    } else this.#records += 1;
    if (isCopied) this.#copied.add(leadId);
    else if (difference === null) this.#equal += 1;
  }

  /** A lead whose row is paused: equal or not, it is in neither number. */
  seePaused({ leadId, isKnown, isCopied }: Sight): void {
    if (!isKnown) this.#records += 1;
    if (isCopied) this.#copied.add(leadId);
  }

  seeLoose({ leadId }: LooseRow): void {
    if (leadId === null) this.#records += 1;
    else if (!this.#copied.has(leadId)) {
      // Both sides are as in the baseline.
      this.#copied.add(leadId);
      this.#equal -= 1;
    }
  }

  /** `pairs`: those known before; `met`: those that a side shows as in their baseline; `newRows`: new leads of which nothing else is known. */
  counts(known: {
    readonly pairs: number;
    readonly metLeads: number;
    readonly metRows: number;
    readonly newRows: number;
  }): { readonly records: number; readonly equal: number } {
    const { pairs, metLeads, metRows, newRows } = known;
    // Of a pair that shows the baseline on one side at least, both counts have one, or one of them has.
    const inStep = metLeads === 0 || metRows === 0 ? 0 : metLeads + metRows - pairs + this.#movedOnBoth;
    return { records: pairs + this.#records + newRows, equal: inStep + this.#equal };
  }
}

/** A row whose lead the list does not show. */
export interface UnlistedRow extends Pick<Sight, 'base' | 'leadAbsences' | 'deletionDone'> {
  readonly cells: Cells;
  /** It was gone before, or is held for its id: another row may have become its lead's meanwhile. */
  readonly isStray: boolean;
}

/**
 * Whether a lead that the list does not show is asked for by its id: something is to be said or done about its row. A row that
 * shows its baseline is left as it is, unless the lead was gone before and a person is asked about it, or the list is filtered: no
 * scan proves a deletion there.
 */
export function isAskedFor(
  { cells, base, leadAbsences, deletionDone, isStray }: UnlistedRow,
  isFiltered: boolean,
  policy: Pick<Policy, 'fields' | 'unseen' | 'onLeadDeleted' | 'direction'>,
): boolean {
  if (base === null || isStray || !sameRecord(cells, base, policy)) return true;
  const isQuestion = policy.onLeadDeleted === 'ask' && policy.direction !== 'to-leads';
  return (isFiltered || isQuestion) && leadAbsences > 0 && !deletionDone;
}

/** What a request for a lead by its id says of it. */
type Answer = 'shown' | 'gone' | 'unknown';

/** What the service answered; `message`: why that is unknown. */
export interface Asked {
  readonly answer: Answer;
  readonly message: string | null;
}

/**
 * What follows from a rejected request (400, 422, or an id that no address can carry): nothing of a lead that was known, or of an
 * id such as the service gives; another text in an id cell is no lead's.
 */
export function afterRejectedId(leadId: string, isKnown: boolean): Answer {
  return isKnown || isUuid(leadId) ? 'unknown' : 'gone';
}

/** Why a lead was not asked for when there were too many. */
export const notAsked = 'this run asked for other leads first';
