import type { Direction, FieldMapping } from '../lead/mapping.ts';
import { type Cell, type Cells, isUnreadable, sameCell, type Values } from '../lead/value.ts';

// Shares nothing with the code that plans: a mistake there must not be explained by itself.

/** The settings that make a difference intended. */
export interface AuditSettings {
  readonly fields: readonly FieldMapping[];
  readonly direction: Direction;
  readonly onLeadDeleted: 'mark' | 'keep' | 'remove' | 'ask';
  readonly onRowDeleted: 'restore' | 'ignore' | 'delete-lead' | 'ask';
}

/** What is true of the run as a whole. */
export interface AuditConditions {
  /** It writes nothing: its actions stay planned. */
  readonly isPlan: boolean;
  /** Fields whose column it could not see, which it names as problems. */
  readonly unseen: ReadonlySet<string>;
  /** It creates nothing while a column is missing, and says so of all new rows and leads in one line. */
  readonly holdsNew: boolean;
  /** It holds rows whose id is lost or cannot be read: any of them may be the row of a lead that has none. */
  readonly holdsStrays: boolean;
  /** It holds new rows and new leads that may be the same. */
  readonly holdsMatches: boolean;
  /** It holds values of rows that may come from an older copy of the table: until that is decided no row counts as deleted. */
  readonly holdsOldRows: boolean;
  /** Creates are open of which it is not known what became of them. */
  readonly isInDoubt: boolean;
  /** Rows that no lead id names are paused: any of them may be the row of a lead that has none. */
  readonly pausesStrays: boolean;
}

/** An action on a record, and its outcome. */
export interface AuditedAction {
  readonly kind: string;
  readonly state: string;
  readonly reason: string;
  /** By field what the written side shows once it is done. */
  readonly to: Cells;
  /** Of a link: what the row shows. */
  readonly expect: Cells;
  /** When it was read again after it was done, it was not as it was written. */
  readonly isDoubted: boolean;
}

/** What both sides showed of one record, last seen before the run wrote, and what the run did about it. */
export interface AuditedRecord {
  /** Null: a row without an id, or with the id of a row above it. */
  readonly leadId: string | null;
  readonly row: number | null;
  /** What both sides agree on once the run is over. */
  readonly base: Values | null;
  /** Fields in which the baseline has moved since the scan, or is void: then `base` lacks them. */
  readonly moved: ReadonlySet<string>;
  /** As in the scan. Null: not there. */
  readonly lead: Cells | null;
  readonly cells: Cells | null;
  readonly actions: readonly AuditedAction[];
  /** Fields that are held and listed; an empty name: all of the record. */
  readonly held: ReadonlySet<string>;
  /** Several complete scans lacked the lead. */
  readonly isLeadGone: boolean;
  /** An earlier run carried out the lead's deletion. */
  readonly isDeletionDone: boolean;
  /** The row stands apart from the table. */
  readonly isApart: boolean;
  /** The row, which no lead id names, is paused. */
  readonly isPaused?: boolean;
}

/** Why two sides differ at the end of a run. */
export type Reason = keyof typeof reasons;

/** With `waits` the run has not done all, and must not say that it succeeded. */
const reasons = {
  held: { waits: true },
  'put-off': { waits: true },
  'create-in-doubt': { waits: true },
  'column-unseen': { waits: true },
  'maybe-its-row': { waits: true },
  'maybe-its-lead': { waits: true },
  'maybe-older-copy': { waits: true },
  /** In a plan. */
  planned: { waits: false },
  /** It is no line of the reviewed plan. */
  'left-out': { waits: false },
  /** Named in the problems, and nothing to do: a deletion without proof yet, a row that is to stay without a lead. */
  reported: { waits: false },
  'one-way': { waits: false },
  'row-deletion-ignored': { waits: false },
  'lead-deletion-kept': { waits: false },
  'lead-deletion-done': { waits: false },
  /** The list lacks the lead, which proves nothing; its row shows what both last agreed on. */
  'not-listed': { waits: false },
  /** There is no cell to differ. */
  'no-cell': { waits: false },
  apart: { waits: false },
  paused: { waits: false },
} as const satisfies Record<string, { readonly waits: boolean }>;

/** A difference that nothing explains. `field` null: one side lacks the record. */
export interface Unexplained {
  readonly leadId: string | null;
  readonly row: number | null;
  readonly name: string | null;
  readonly field: string | null;
  /** What each side shows; without a field: its name, null where it is missing. */
  readonly lead: Cell;
  readonly cell: Cell;
}

/** What is found in one record. */
export interface RecordAudit {
  readonly unexplained: readonly Unexplained[];
  readonly reasons: ReadonlySet<Reason>;
}

export function waits(reason: Reason): boolean {
  return reasons[reason].waits;
}

/** Explains each difference between the two sides of a record, as the run leaves them. Pure. */
export function auditRecord(
  record: AuditedRecord,
  settings: AuditSettings,
  conditions: AuditConditions,
): RecordAudit {
  const found: { unexplained: Unexplained[]; reasons: Set<Reason> } = { unexplained: [], reasons: new Set() };
  const note = (field: string | null, reason: Reason | null, lead: Cell, cell: Cell): void => {
    if (reason !== null) found.reasons.add(reason);
    else found.unexplained.push({ ...placeOf(record), field, lead, cell });
  };
  const isLinked = record.actions.some(({ kind, state }) => kind === 'link' && state === 'done');
  // A row that got an id is looked at with its lead.
  if (record.leadId === null && isLinked) return found;
  const { lead, cells } = sidesAfter(record);
  if (lead !== null && cells !== null) {
    for (const { field, direction } of settings.fields) {
      const [left, right] = [lead[field] ?? null, cells[field]];
      if (right !== undefined && sameCell(left, right)) continue;
      const isOneWay = direction === 'to-leads' || settings.direction === 'to-leads';
      const isIdle = right === undefined && (isOneWay || left === null || isUnreadable(left));
      note(field, isIdle ? 'no-cell' : whyField(field, record, conditions), left, right ?? null);
    }
  } else if (lead !== null || cells !== null) {
    const name = (lead ?? cells)?.['companyName'] ?? null;
    const reason = whyRecord({ ...record, lead, cells }, settings, conditions);
    note(null, reason, lead === null ? null : name, lead === null ? name : null);
  }
  return found;
}

function placeOf({ leadId, row, lead, cells, base }: AuditedRecord) {
  const name = (lead ?? cells ?? base)?.['companyName'] ?? null;
  return { leadId, row, name: isUnreadable(name) ? name.unreadable : name };
}

/** Both sides once what was done is applied to them. */
function sidesAfter({ lead: before, cells: shown, base, actions, held }: AuditedRecord) {
  let [lead, cells] = [before, shown];
  const write = (on: Cells | null, { to }: AuditedAction): Cells => {
    const taken = Object.entries(to).filter(([field]) => !held.has(field));
    return { ...on, ...Object.fromEntries(taken) };
  };
  for (const action of actions) {
    // The service stored a value in another way than it was sent: that is what the row gets.
    if (action.reason === 'stored-otherwise') lead = write(lead, action);
    if (action.state !== 'done') continue;
    // It was read just before it was written, though the list lacks it.
    if (action.kind === 'update-lead') lead = write(lead ?? base, action);
    else if (action.kind === 'create-row' || action.kind === 'update-row') cells = write(cells, action);
    else if (action.kind === 'link') cells = write({ ...cells, ...action.expect }, action);
    else if (action.kind === 'delete-lead') lead = null;
    else if (action.kind === 'remove-row' || action.kind === 'unlink') cells = null;
  }
  return { lead, cells };
}

/** The reason of a difference in one field of a record that both sides have; null: none. */
function whyField(field: string, record: AuditedRecord, conditions: AuditConditions): Reason | null {
  if (record.held.has(field) || record.held.has('')) return 'held';
  if (conditions.unseen.has(field)) return 'column-unseen';
  for (const action of record.actions) {
    const isWhole = Object.keys(action.to).length === 0;
    if (!isWhole && !(field in action.to)) continue;
    const reason = whyOpen(action, conditions);
    // A value that is still to be written is not agreed on.
    const isAgreed =
      record.moved.has(field) && field in (record.base ?? {}) && action.reason !== 'stored-otherwise';
    if (reason !== null && !isAgreed) return reason;
  }
  // A new lead whose id somebody typed into a row may be the one that such a create made.
  return record.base === null && conditions.isInDoubt ? 'create-in-doubt' : null;
}

/** What explains that an action was not carried out; null: it was, or it should have been. */
function whyOpen({ kind, state, isDoubted }: AuditedAction, { isPlan }: AuditConditions): Reason | null {
  if (isDoubted || state === 'deferred') return 'put-off';
  if (state === 'left-out') return 'left-out';
  if (kind === 'report') return 'reported';
  if (kind === 'hold' || state === 'held') return isPlan ? 'held' : null;
  return isPlan && (state === 'planned' || state === 'proven') ? 'planned' : null;
}

/** The reason why one side alone has a record; null: none. */
function whyRecord(
  record: AuditedRecord,
  settings: AuditSettings,
  conditions: AuditConditions,
): Reason | null {
  if (record.held.size > 0) return 'held';
  for (const action of record.actions) {
    const reason = whyOpen(action, conditions);
    if (reason !== null) return reason;
  }
  if (record.leadId === null) return whyNoLeadOfRow(record, conditions);
  return record.lead === null
    ? whyLeadMissing(record, settings, conditions)
    : whyRowMissing(record, settings, conditions);
}

function whyNoLeadOfRow(
  { isApart, isPaused = false }: AuditedRecord,
  { isInDoubt, holdsMatches, holdsNew }: AuditConditions,
): Reason | null {
  if (isPaused) return 'paused';
  if (isApart) return 'apart';
  if (holdsNew) return 'column-unseen';
  if (isInDoubt) return 'create-in-doubt';
  return holdsMatches ? 'maybe-its-lead' : null;
}

function whyRowMissing(
  { base, lead }: AuditedRecord,
  { direction, onRowDeleted, fields }: AuditSettings,
  { unseen, holdsNew, holdsStrays, holdsOldRows, isInDoubt, pausesStrays }: AuditConditions,
): Reason | null {
  if (direction === 'to-leads') return 'one-way';
  if (holdsNew) return 'column-unseen';
  if (holdsStrays) return 'maybe-its-row';
  if (pausesStrays) return 'paused';
  if (base === null) return isInDoubt ? 'create-in-doubt' : null;
  if (onRowDeleted === 'ask') return holdsOldRows ? 'maybe-older-copy' : null;
  if (!shows(lead, base, fields, unseen)) return null;
  if (onRowDeleted === 'ignore') return 'row-deletion-ignored';
  return holdsOldRows && onRowDeleted === 'delete-lead' ? 'maybe-older-copy' : null;
}

function whyLeadMissing(
  { base, cells, actions, isLeadGone, isDeletionDone }: AuditedRecord,
  { direction, onLeadDeleted, fields }: AuditSettings,
  { unseen }: AuditConditions,
): Reason | null {
  // The row is the only place of an edit: it must be held or named, whatever becomes of the lead.
  if (base === null || !shows(cells, base, fields, unseen)) return null;
  if (!isLeadGone) return 'not-listed';
  if (onLeadDeleted === 'keep') return 'lead-deletion-kept';
  if (direction === 'to-leads') return 'one-way';
  const isMarked = actions.some(({ kind, state }) => kind === 'mark-row' && state === 'done');
  return isDeletionDone || isMarked ? 'lead-deletion-done' : null;
}

/** Whether a record shows what was agreed on, in the fields that it has. */
function shows(
  cells: Cells | null,
  base: Values,
  fields: readonly FieldMapping[],
  unseen: ReadonlySet<string>,
): boolean {
  return fields.every(({ field }) => {
    const cell = cells?.[field];
    return cell === undefined || unseen.has(field) || sameCell(cell, base[field] ?? null);
  });
}

/** What is found in all records of a run. */
export interface RunAudit {
  /** The first of them. */
  readonly unexplained: readonly Unexplained[];
  readonly count: number;
  /** Something is left to do: a run that says otherwise is wrong. */
  readonly isUnfinished: boolean;
}

export const nothingAudited: RunAudit = { unexplained: [], count: 0, isUnfinished: false };

/** Audits records one after the other; keeps `most` unexplained differences. */
export async function auditRun(
  records: AsyncIterable<AuditedRecord>,
  settings: AuditSettings,
  conditions: AuditConditions,
  most: number,
): Promise<RunAudit> {
  const unexplained: Unexplained[] = [];
  let [count, isUnfinished] = [0, false];
  for await (const record of records) {
    const audit = auditRecord(record, settings, conditions);
    count += audit.unexplained.length;
    unexplained.push(...audit.unexplained.slice(0, most - unexplained.length));
    isUnfinished ||= [...audit.reasons].some(waits);
  }
  return { unexplained, count, isUnfinished };
}
