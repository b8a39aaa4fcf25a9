import type { Cells } from '../lead/value.ts';
import type { ActionKind, PlannedAction } from './action.ts';

/** The facts about a row after the run. */
export interface RowFacts {
  /** An earlier row has the same id. */
  readonly isCopy: boolean;
  /** An empty field: the whole record. */
  readonly conflicts: readonly ConflictFact[];
  /** The code of what is deferred to the next run. */
  readonly waiting: string | null;
  readonly isListed: boolean;
  /** Complete scans with `leads.query` do not show its lead. */
  readonly isOutside: boolean;
  /** When the deletion of its lead was carried out. */
  readonly deletedOn: string | null;
  /** The current content of its status cell. */
  readonly shown: string;
}

export interface ConflictFact {
  readonly field: string;
  readonly code: string;
}

export const inStep = 'in step';

/** The status text of a deleted lead; `day` as 2026-11-21 (UTC). */
export function deletedText(day: string): string {
  return `deleted ${day}`;
}

/**
 * The status of a row, for people; null: leave the cell. Deterministic: no times, nothing that changes by itself.
 * `headings`: the mapped fields' headings in order.
 */
export function rowStatus(facts: RowFacts, headings: ReadonlyMap<string, string>): string | null {
  // No status has a line end: stray quotation marks have joined rows into this cell, which would be lost.
  if (/[\r\n]/.test(facts.shown)) return null;
  if (facts.isCopy) return heldText([{ field: '', code: 'row.duplicate-id' }], headings);
  if (facts.conflicts.length > 0) return heldText(facts.conflicts, headings);
  if (facts.waiting !== null)
    return `waiting: ${waitingReasons[facts.waiting] ?? 'the next sync tries again'}`;
  if (facts.deletedOn !== null) {
    // Do not restore a mark that an undo or a person removed.
    return facts.shown === '' ? null : deletedText(facts.deletedOn);
  }
  if (facts.isOutside) return `outside: ${filtered}`;
  return facts.isListed ? inStep : `waiting: ${notListed}`;
}

/** The conflict of the whole record first, else of the first field in mapping order, and how many more. */
function heldText(conflicts: readonly ConflictFact[], headings: ReadonlyMap<string, string>): string {
  const order = [...headings.keys()];
  const [first] = conflicts.toSorted((a, b) => order.indexOf(a.field) - order.indexOf(b.field));
  if (first === undefined) return inStep;
  // Of a new row nothing says which field.
  const isNewRow = first.field === '' && first.code === 'row.unmapped';
  const ofRecord = isNewRow ? 'a word of this row is not known to the service' : recordReasons[first.code];
  if (ofRecord !== undefined) return `held: ${ofRecord}`;
  // A new row without a name is held as a whole.
  const field = first.field === '' ? 'companyName' : first.field;
  const heading = (headings.get(field) ?? field).replaceAll(/\s+/g, ' ').trim();
  const reason = fieldReasons[first.code]?.(heading) ?? 'a person has to look at it (leadsync conflicts)';
  return `held: ${reason}${conflicts.length > 1 ? ` (and ${conflicts.length - 1} more)` : ''}`;
}

const fieldReasons: Readonly<Record<string, (heading: string) => string>> = {
  'conflict.both-edited': (heading) => `${heading} was changed here and in the service`,
  'conflict.first-sight': (heading) => `${heading} is different in the service`,
  'row.unreadable': (heading) => `${heading} cannot be read`,
  'lead.unreadable': (heading) => `${heading} cannot be read in the service`,
  'row.unmapped': (heading) => `${heading} has a word that the service does not know`,
  'lead.unmapped': (heading) => `${heading} has a word in the service that this table does not know`,
  'row.company-name-empty': (heading) => `${heading} is empty`,
  'row.garbled': (heading) => `${heading} has letters of another encoding`,
  'lead.field-refused': (heading) => `the service refused this ${heading}`,
  'row.put-back': (heading) => `${heading} shows an earlier value again`,
  'lead.put-back': (heading) => `${heading} shows an earlier value again in the service`,
};

const recordReasons: Readonly<Record<string, string>> = {
  'conflict.edit-meets-delete': 'the lead was deleted, but this row was changed',
  'lead.deleted': 'its lead was deleted; somebody has to decide (leadsync conflicts)',
  'row.orphan': 'no lead has this id',
  'row.too-large': 'this row has too much text',
  'lead.too-large': 'its lead has too much text',
  'lead.unasked': 'the service did not say whether its lead is there',
  'row.moved': 'it belongs to the table of another connection',
  'row.duplicate-id': 'an earlier row has this id',
  'row.id-lost': 'its id is missing; it may belong to a lead',
  'match.proposed': 'it may be an existing lead (leadsync conflicts)',
  'match.ambiguous': 'it may be one of several leads (leadsync conflicts)',
  'row.twin': 'another row shows the same company',
  'row.id-moved': 'it shows the values of another lead',
  'row.column-missing': 'a column is missing or duplicated',
  'row.id-closed': 'no id can be written into this row',
  'row.id-unreadable': 'its id cannot be read',
  'row.without-id': 'new rows do not become leads here',
  'lead.create-refused': 'the service refused this row as a lead',
  'lead.exists': 'the service has this lead already',
  'row.undone': 'an undo deleted the lead of this row',
  'create.in-doubt': 'could not tell which lead was created from this row',
  'leads.forbidden': 'leadsync is not allowed to change this in the service',
  'target.value-not-storable': 'a value of the lead does not fit into this table',
  'target.cell-not-writable': 'a cell of this row cannot be written to',
};

const filtered = "this table's filter does not show this lead any more";
const notListed = 'the service does not list this lead';
const changedMeanwhile = 'it was changed during the sync';
const noAnswer = 'the service did not answer';

const waitingReasons: Readonly<Record<string, string>> = {
  'create.in-doubt': 'a lead is being created from this row',
  'lead.changed': 'the lead was changed during the sync',
  'lead.gone': notListed,
  'lead.still-there': notListed,
  'leads.rejected': 'the service refused the change',
  'leads.too-large': noAnswer,
  'leads.unavailable': noAnswer,
  'leads.unreachable': noAnswer,
  'leads.not-json': noAnswer,
  'row.changed': changedMeanwhile,
  'row.gone': changedMeanwhile,
  'row.paused': changedMeanwhile,
  'row.exists': changedMeanwhile,
  'row.duplicated': changedMeanwhile,
  'target.column-missing': 'a column is missing or duplicated',
};

type Told = Pick<RowFacts, 'conflicts' | 'waiting'>;

/** A row as read, and what is known of its lead. */
export interface ScannedRow extends Omit<RowFacts, keyof Told> {
  readonly leadId: string | null;
  readonly row: number | null;
  readonly cells: Cells;
}

/** A row as read, and its state after the round's writes. */
export interface RowStanding extends ScannedRow, RowFacts {}

/** An action of the round, with the code of its outcome or else of its reason. */
export interface ActOfRow extends Pick<PlannedAction, 'kind' | 'leadId' | 'row' | 'contentHash'> {
  readonly state: string;
  readonly code: string;
}

const taken: ReadonlySet<ActionKind> = new Set(['mark-row', 'remove-row', 'unlink']);

/**
 * How rows stand after a round. A row with an id reports its lead's conflicts and what the round deferred; a row without one the
 * round's last action on it (none: its lead is still being created).
 */
export class RowStandings {
  /** Leads whose rows the round marked, removed or gave back. */
  readonly #taken = new Set<string>();
  readonly #waiting = new Map<string, string>();
  readonly #ofRow = new Map<number, ActOfRow>();
  readonly #unplanned: string;
  readonly #conflicts: ReadonlyMap<string, readonly ConflictFact[]>;
  readonly #isTorn: boolean;

  /** `acts` in their order; `isTorn`: a lead that the scan lacks may be there. */
  constructor(
    acts: readonly ActOfRow[],
    conflicts: ReadonlyMap<string, readonly ConflictFact[]>,
    isTorn: boolean,
  ) {
    this.#conflicts = conflicts;
    this.#isTorn = isTorn;
    const lacksColumn = acts.some(({ code }) => code === 'row.column-missing');
    this.#unplanned = lacksColumn ? 'target.column-missing' : 'create.in-doubt';
    for (const act of acts) {
      const { kind, leadId, row, contentHash, state, code } = act;
      if (leadId !== null) {
        if (state === 'done' && taken.has(kind)) this.#taken.add(leadId);
        const isOver = state === 'done' || state === 'held' || kind === 'hold' || kind === 'report';
        if (!isOver && !this.#waiting.has(leadId)) this.#waiting.set(leadId, code);
      }
      if (row !== null && (leadId === null || kind === 'link' || contentHash !== ''))
        this.#ofRow.set(row, act);
    }
  }

  /** The leads of whose rows there is something to tell whatever they show. */
  get told(): readonly string[] {
    return [...new Set([...this.#conflicts.keys(), ...this.#waiting.keys()])];
  }

  /** Null: its status cell shows what it should, or is none of the round's. */
  of(row: ScannedRow): RowStanding | null {
    const facts = row.leadId === null ? this.#ofLoose(row.row ?? 0) : this.#ofLead(row.leadId, row);
    if (facts === null) return null;
    const { isListed, isOutside, deletedOn } = row;
    const isTold = facts.conflicts.length > 0 || facts.waiting !== null;
    const isUsual = row.shown === inStep && !row.isCopy && isListed && !isOutside && !isTold;
    const mayBeListed = this.#isTorn && row.leadId !== null && !isListed && deletedOn === null;
    if (isUsual || (mayBeListed && !row.isCopy && !isTold)) return null;
    return { ...row, deletedOn: isListed ? null : deletedOn, ...facts };
  }

  #ofLead(leadId: string, { isCopy }: ScannedRow): Told | null {
    if (isCopy) return { conflicts: [], waiting: null };
    if (this.#taken.has(leadId)) return null;
    return { conflicts: this.#conflicts.get(leadId) ?? [], waiting: this.#waiting.get(leadId) ?? null };
  }

  #ofLoose(row: number): Told | null {
    const act = this.#ofRow.get(row);
    if (act === undefined) return { conflicts: [], waiting: this.#unplanned };
    const { kind, state, code } = act;
    if (kind === 'link' && state === 'done') return null;
    if (kind === 'hold' || kind === 'report' || state === 'held')
      return { conflicts: [{ field: '', code }], waiting: null };
    return { conflicts: [], waiting: code };
  }
}
