import { type FieldMapping, headingOf, type Headings } from '../lead/mapping.ts';
import {
  type Cell,
  type Cells,
  isUnreadable,
  sameButSpelling,
  sameCell,
  showCell,
  type Value,
  type Values,
} from '../lead/value.ts';
import {
  type Actions,
  type Change,
  type Changes,
  type PlannedAction,
  plannedAction,
  type RowState,
  shownBefore,
} from './action.ts';
import { hashContent } from '../lead/content-hash.ts';

const reason = 'undone';

/** One field that a run wrote on one side. */
export interface FieldChange {
  readonly side: 'lead' | 'row';
  readonly field: string;
  /** Before the run's first and after its last write. */
  readonly before: Cell;
  readonly after: Cell;
  /** The rule of the first write, and the baseline at that time, if any. */
  readonly rule: string;
  readonly base?: Value;
  /** The value to write: what the other side shows, even if this side stored it differently. */
  readonly wanted?: Cell;
  /** The last later run that wrote this field, on either side; of one that was written to the lead alone, in the lead: the row only follows it. */
  readonly later: number | null;
}

/** What a run did to one lead and its row, from the history. */
export interface RunChanges {
  readonly leadId: string;
  readonly written: readonly FieldChange[];
  /** What the lead was created with, and what its row showed then. */
  readonly leadMade: Values | null;
  readonly rowLinked: Cells | null;
  /** What the row showed that was matched with an existing lead. */
  readonly rowMatched: Cells | null;
  /** The new row's content. */
  readonly rowMade: Cells | null;
  /** The removed row's content. */
  readonly rowRemoved: Cells | null;
  readonly rowMarked: boolean;
  readonly leadDeleted: Cells | null;
  /** The last later run that created, marked or removed the lead or its row. */
  readonly later: number | null;
}

export interface Present {
  readonly lead: Cells | null;
  readonly row: RowState | null;
  readonly headings: Headings;
  /** The row is paused: neither side is put back. */
  readonly isPaused?: boolean;
}

/**
 * The undo of a run for one lead and its row: one action for each change that both sides still show as the run left it.
 * Later edits and later runs' writes stay and are reported. Pure.
 */
export function planUndo(run: RunChanges, present: Present): Actions {
  const { leadId, rowMatched, rowMade } = run;
  if (present.isPaused === true)
    return [report(leadId, 'undo.paused', 'its row is paused; neither side was put back')];
  const part = (row: RowState): PlannedAction => ({
    ...unlink(run, row),
    reason: 'unmatched',
  });
  const remove = ({ row, cells }: RowState): PlannedAction =>
    plannedAction('remove-row', { leadId, row, expect: cells, reason });
  return [
    ...undoLeadDeleted(run, present),
    ...undoLeadMade(run, present),
    ...takeRowBack(run, present, rowMatched, 'keeps its id', part),
    ...takeRowBack(run, present, rowMade, 'was not removed', remove),
    ...undoRowRemoved(run, present),
    ...undoRowMarked(run, present),
    ...undoWritten(run, present),
  ];
}

function undoLeadDeleted({ leadId, leadDeleted }: RunChanges, { headings }: Present): Actions {
  if (leadDeleted === null) return [];
  const values = Object.entries(leadDeleted).map(
    ([field, cell]) => `${headingOf(headings, field)} ${showCell(cell)}`,
  );
  const message = `the lead was deleted in the service and cannot come back under its id. It had ${values.join(', ')}. To create a new lead, type them into a new row without an id`;
  return [report(leadId, 'undo.lead-deleted', message)];
}

function undoLeadMade(run: RunChanges, { lead, row, headings }: Present): Actions {
  const { leadId, leadMade, rowLinked, written, later } = run;
  if (leadMade === null) return [];
  if (later !== null) return [writtenSince(leadId, later, 'the lead was not deleted')];
  const inRow = lastWritten(written, 'row');
  const rowEdited = row === null ? [] : fieldsThatDiffer(row.cells, { ...rowLinked, ...inRow }, sameCell);
  if (lead === null && (row === null || rowEdited.length > 0)) return [gone(leadId, 'lead')];
  // What the service filled in is known from what the row was given.
  const left = { ...inRow, ...leadMade, ...lastWritten(written, 'lead') };
  const leadEdited = lead === null ? [] : fieldsThatDiffer(lead, left, sameButSpelling);
  if (leadEdited.length > 0) return [editedSince(leadId, 'lead', leadEdited, headings, 'it was not deleted')];
  if (rowEdited.length > 0)
    return [editedSince(leadId, 'row', rowEdited, headings, 'its lead was not deleted')];
  return [
    ...(lead === null ? [] : [plannedAction('delete-lead', { leadId, expect: lead, reason })]),
    ...(row === null ? [] : [unlink(run, row)]),
  ];
}

/** Puts back a row that still shows what the run left (`made`, null: nothing to put back); else reports why it stays. */
function takeRowBack(
  { leadId, written, later }: RunChanges,
  { row, headings }: Present,
  made: Cells | null,
  stays: string,
  take: (row: RowState) => PlannedAction,
): Actions {
  if (made === null) return [];
  if (row === null) return [gone(leadId, 'row')];
  if (later !== null) return [writtenSince(leadId, later, `the row ${stays}`)];
  const edited = fieldsThatDiffer(row.cells, { ...made, ...lastWritten(written, 'row') }, sameCell);
  return [edited.length === 0 ? take(row) : editedSince(leadId, 'row', edited, headings, `it ${stays}`)];
}

/** The row as typed: without the id and the values filled in with it. */
function unlink({ leadId, written }: RunChanges, { row, cells }: RowState): PlannedAction {
  const changes = written.flatMap(({ side, field, before }) => {
    const from = cells[field] ?? null;
    if (side !== 'row' || isUnreadable(before) || sameCell(from, before)) return [];
    return [[field, { from, to: before, rule: 'undone' }] as const];
  });
  const restored = Object.fromEntries(changes);
  return plannedAction('unlink', { leadId, row, changes: restored, expect: cells, reason });
}

function undoRowRemoved({ leadId, rowRemoved, later }: RunChanges, { row, headings }: Present): Actions {
  if (rowRemoved === null) return [];
  const message = `row ${row?.row} carries this id again; no second one was added`;
  if (row !== null) return [report(leadId, 'undo.row-exists', message)];
  if (later !== null) return [writtenSince(leadId, later, 'the row was not brought back')];
  const filled = Object.entries(rowRemoved).filter(([, cell]) => !sameCell(cell, null));
  const changes = Object.fromEntries(
    filled
      .filter(([, cell]) => !isUnreadable(cell))
      .map(([field, to]) => [field, { from: null, to, rule: 'undone' as const }]),
  );
  const unwritable = filled.filter(([, cell]) => isUnreadable(cell));
  return [
    plannedAction('create-row', { leadId, changes, reason }),
    ...unwritable.map(([field, cell]) => notWritable(leadId, 'row', headingOf(headings, field), cell)),
  ];
}

function undoRowMarked({ leadId, rowMarked, later }: RunChanges, { row }: Present): Actions {
  if (!rowMarked || row === null) return [];
  if (later !== null) return [writtenSince(leadId, later, 'the mark was left')];
  return [plannedAction('mark-row', { leadId, row: row.row, expect: row.cells, reason })];
}

function undoWritten(run: RunChanges, present: Present): Actions {
  const { written } = run;
  // A record that was created or removed as a whole is restored as a whole.
  const wholeLead = run.leadMade !== null || run.leadDeleted !== null;
  const wholeRow = [run.rowMade, run.rowRemoved, run.leadMade, run.rowMatched].some((made) => made !== null);
  const onLead = wholeLead ? [] : written.filter(({ side }) => side === 'lead');
  // Where a run wrote both sides, the row only got the lead's form of its own value.
  const onRow = written.filter(
    ({ side, field }) => side === 'row' && !wholeRow && onLead.every((one) => one.field !== field),
  );
  return [...undoSide(run, 'lead', onLead, present), ...undoSide(run, 'row', onRow, present)];
}

function undoSide(
  run: RunChanges,
  side: 'lead' | 'row',
  written: readonly FieldChange[],
  present: Present,
): Actions {
  const { leadId } = run;
  const sides = { lead: present.lead, row: present.row?.cells ?? null };
  const cells = sides[side];
  if (written.length === 0) return [];
  if (cells === null) return [gone(leadId, side)];
  const other = side === 'lead' ? 'row' : 'lead';
  const changes: Record<string, Change> = {};
  const edited = { lead: [] as string[], row: [] as string[] };
  const reports: PlannedAction[] = [];
  for (const write of written) {
    const { field, before, after } = write;
    const now = cells[field] ?? null;
    const heading = headingOf(present.headings, field);
    const later = Math.max(write.later ?? 0, run.later ?? 0);
    if (sameCell(now, before)) continue;
    if (later > 0)
      reports.push(writtenSince(leadId, later, `${heading} of the ${side} was left alone`, heading));
    else if (!sameCell(now, after)) edited[side].push(field);
    else if (sides[other] && !isAsLeft(sides[other][field] ?? null, run, write, other))
      edited[other].push(field);
    else if (isUnreadable(before)) {
      reports.push(notWritable(leadId, side, heading, before));
    } else changes[field] = putBack(write, now, before);
  }
  for (const where of [side, other] as const) {
    const then = where === side ? 'the edit was left alone' : `the ${side} was left alone`;
    if (edited[where].length > 0)
      reports.push(editedSince(leadId, where, edited[where], present.headings, then));
  }
  if (Object.keys(changes).length === 0) return reports;
  const expect = shownBefore(changes);
  const row = side === 'lead' ? null : (present.row?.row ?? null);
  return [plannedAction(`update-${side}`, { leadId, row, changes, expect, reason }), ...reports];
}

function isAsLeft(now: Cell, run: RunChanges, write: FieldChange, other: 'lead' | 'row'): boolean {
  if (leadAlone.includes(write.rule) && sameCell(now, write.before)) return true;
  return sameCell(now, leftOnOther(run, write, other));
}

/** What the run left on the side it did not write: the source of the value, or the value both shared before an undo. */
function leftOnOther(
  { written, rowMade }: RunChanges,
  { field, rule, before, after, wanted }: FieldChange,
  other: 'lead' | 'row',
): Cell {
  const there = written.find((one) => one.side === other && one.field === field);
  if (there !== undefined) return there.after;
  if (isPutBack(rule)) return before;
  if (other === 'row' && rowMade !== null) return rowMade[field] ?? null;
  return wanted === undefined ? after : wanted;
}

/** The fields in which two records differ; absent counts as empty. */
function fieldsThatDiffer(now: Cells, left: Cells, same: (a: Cell, b: Cell) => boolean): readonly string[] {
  const fields = new Set([...Object.keys(left), ...Object.keys(now)]);
  return [...fields].filter((field) => !same(now[field] ?? null, left[field] ?? null));
}

function lastWritten(written: RunChanges['written'], side: 'lead' | 'row'): Cells {
  return Object.fromEntries(
    written.filter((one) => one.side === side).map(({ field, after }) => [field, after]),
  );
}

/** Something an undo leaves alone, and why. */
function report(leadId: string, reason: string, message: string): PlannedAction {
  return plannedAction('report', { leadId, reason, message });
}

/** These fields were edited on this side after the run; `then`: what was not done therefore. */
function editedSince(
  leadId: string,
  side: 'lead' | 'row',
  fields: readonly string[],
  headings: Headings,
  then: string,
): PlannedAction {
  const message = `${fields.map((field) => headingOf(headings, field)).join(', ')} of the ${side} was edited after the run; ${then}`;
  return report(leadId, 'undo.edited-since', message);
}

/** A later run wrote the field; without a field: created, marked or removed the lead or its row. */
function writtenSince(leadId: string, run: number, then: string, heading?: string): PlannedAction {
  const what = heading === undefined ? 'created, marked or removed the lead or its row' : `wrote ${heading}`;
  return report(leadId, 'undo.written-since', `run ${run} ${what} since; ${then}`);
}

function gone(leadId: string, side: 'lead' | 'row'): PlannedAction {
  return report(leadId, 'undo.gone', `the ${side} is gone; nothing can be put back`);
}

/** The earlier value was a formula or unreadable. */
function notWritable(leadId: string, side: 'lead' | 'row', heading: string, was: Cell): PlannedAction {
  const message = `${heading} of the ${side} was ${showCell(was)}, which cannot be written: type it again if you need it`;
  return report(leadId, 'undo.not-writable', message);
}

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
function putBack(
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

/** A record that an undo took its other side from; `leadId`: empty for a row without id. */
export interface UndoneRecord {
  readonly leadId: string;
  /** The fingerprint of what it showed then. */
  readonly contentHash: string;
  /** What it showed then. Null: not known. */
  readonly cells: Cells | null;
}

/** The records that an undo took the other side from, and which of them a scan shows as they were. */
export class UndoneRecords {
  readonly #records: Map<string, readonly UndoneRecord[]>;
  readonly #fields: readonly FieldMapping[];
  readonly seen = new Set<UndoneRecord>();

  constructor(records: readonly UndoneRecord[], fields: readonly FieldMapping[]) {
    this.#records = Map.groupBy(records, ({ leadId }) => leadId);
    this.#fields = fields;
  }

  get size(): number {
    return this.#records.size;
  }

  /** The key of the record with these cells, by the fields that they show; or null. */
  find(leadId: string, cells: Cells): string | null {
    const found = this.#records.get(leadId)?.find((record) => this.#isLike(record, cells));
    if (found === undefined) return null;
    this.seen.add(found);
    return found.contentHash;
  }

  #isLike({ contentHash, cells: before }: UndoneRecord, cells: Cells): boolean {
    if (before === null) return hashContent(cells, this.#fields) === contentHash;
    return this.#fields.every(
      ({ field }) => !(field in cells) || sameCell(cells[field] ?? null, before[field] ?? null),
    );
  }
}
