import type { Cells } from '../lead/value.ts';
import type { ActionKind } from './action.ts';
import { type ConflictFact, inStep, type RowFacts } from './row-status.ts';

/** A row as read, and what is known of its lead. */
export interface ScannedRow
  extends Pick<RowFacts, 'isCopy' | 'isListed' | 'isOutside' | 'deletedOn' | 'shown'> {
  readonly leadId: string | null;
  readonly row: number | null;
  readonly cells: Cells;
}

/** A row as read, and its state after the round's writes. */
export interface RowStanding extends ScannedRow, RowFacts {}

/** An action of the round, with the code of its outcome or else of its reason. */
export interface ActOfRow {
  readonly kind: ActionKind;
  readonly leadId: string | null;
  readonly row: number | null;
  readonly contentHash: string;
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

  #ofLead(leadId: string, { isCopy }: ScannedRow): Pick<RowFacts, 'conflicts' | 'waiting'> | null {
    if (isCopy) return { conflicts: [], waiting: null };
    if (this.#taken.has(leadId)) return null;
    return { conflicts: this.#conflicts.get(leadId) ?? [], waiting: this.#waiting.get(leadId) ?? null };
  }

  #ofLoose(row: number): Pick<RowFacts, 'conflicts' | 'waiting'> | null {
    const act = this.#ofRow.get(row);
    if (act === undefined) return { conflicts: [], waiting: this.#unplanned };
    const { kind, state, code } = act;
    if (kind === 'link' && state === 'done') return null;
    if (kind === 'hold' || kind === 'report' || state === 'held')
      return { conflicts: [{ field: '', code }], waiting: null };
    return { conflicts: [], waiting: code };
  }
}
