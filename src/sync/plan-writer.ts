import type pg from 'pg';
import { type PlannedAction, putOffReasons } from '../core/merge/action.ts';
import { missedCode } from '../core/merge/plan-held-rows.ts';
import { charactersIn, mostTogether } from '../core/lead/text-size.ts';
import type { Review } from '../review/pick-approved.ts';
import { insertActions, type NewAction, writtenCells } from '../store/actions.ts';
import type { Difference } from '../store/differences.ts';
import { keepMoves, type PlannedMove } from '../store/baselines.ts';
import type { Run } from '../store/runs.ts';
import { readable } from './row-change.ts';

const batchSize = 500;

/** Stores actions in batches and, of a sync, the moves of baselines without an action. */
export class PlanWriter {
  written = 0;
  moves = 0;
  readonly #db: pg.PoolClient;
  readonly #run: Run;
  readonly #review: Review | null;
  #buffer: NewAction[] = [];
  #moves: PlannedMove[] = [];
  /** Characters of both. */
  #size = 0;
  #storing = Promise.resolve();

  constructor(db: pg.PoolClient, run: Run, review: Review | null) {
    this.#db = db;
    this.#run = run;
    this.#review = review;
  }

  async add(...actions: readonly NewAction[]): Promise<void> {
    for (const action of actions) {
      this.#size += charactersIn(action);
      if (action.kind === 'agree' && action.leadId !== null) {
        this.#moves.push({ leadId: action.leadId, values: readable(writtenCells(action.changes)) });
      } else if (action.kind === 'forget' && action.leadId !== null) {
        this.#moves.push({ leadId: action.leadId, values: null });
      } else {
        const isPutOff = action.kind === 'report' && putOffReasons.has(action.reason);
        const stored: NewAction = isPutOff ? { ...action, state: 'deferred' } : action;
        this.#buffer.push(...(this.#review?.pick(stored) ?? [stored]));
      }
    }
    const isMuch = this.#size >= mostTogether;
    if (isMuch || this.#buffer.length + this.#moves.length >= batchSize) await this.#flush();
  }

  /** Stores the rest. */
  async end(): Promise<void> {
    await this.#flush();
    await this.#storing;
  }

  /** The next actions are decided while Postgres stores the last ones. */
  async #flush(): Promise<void> {
    await this.#storing;
    const [actions, moves] = [this.#buffer, this.#run.mode === 'plan' ? [] : this.#moves];
    [this.#buffer, this.#moves, this.#size] = [[], [], 0];
    this.#storing = this.#store(actions, moves);
    // The next caller that awaits it gets the error.
    this.#storing.catch(() => {});
    this.written += actions.length;
    this.moves += moves.length;
  }

  async #store(actions: readonly NewAction[], moves: readonly PlannedMove[]): Promise<void> {
    await insertActions(this.#db, this.#run, actions);
    if (moves.length > 0) await keepMoves(this.#db, moves);
  }
}

/** Counts records that differ, or may differ, and have no action. */
export class PlanTally {
  /** Equal in all fields that both sides show. */
  equal = 0;
  /** Differ and stay so, by the settings or without a proof. */
  leftAlone = 0;
  /** Rows apart, which are no records. */
  apart = 0;
  /** Rows whose conflict is their likeliest lead's. */
  heldWithLead = 0;
  readonly #missed = { leads: 0, rows: 0 };
  #found = 0;
  readonly #leads = new Set<string>();
  readonly #rows = new Set<number>();

  /** A planned pair; `isFound`: its row had lost the id. A pair with copied rows is held for these. */
  see({ lead, row, isCopied }: Difference, actions: readonly PlannedAction[], isFound: boolean): void {
    if (isFound && lead !== null) this.#found += 1;
    if (isCopied || (lead === null && row === null)) return;
    if (actions.length === 0) this.leftAlone += 1;
    else if (actions.every(({ kind }) => kind === 'agree')) this.equal += 1;
  }

  /** Takes out the holds that are listed as one, of which it counts the records. */
  withoutMissed(actions: readonly PlannedAction[], side: 'leads' | 'rows'): readonly PlannedAction[] {
    const others = actions.filter(({ reason }) => reason !== missedCode);
    if (others.length < actions.length) this.#missed[side] += 1;
    return others;
  }

  /** The new records of which nothing is made while a column is missing; null: none. */
  missed(): { readonly leads: number; readonly rows: number } | null {
    const { leads, rows } = this.#missed;
    return leads + rows === 0 ? null : { leads, rows };
  }

  /** A lead that may belong to an unfinished create. */
  leaveLead({ leadId, lead, row }: Difference): void {
    if (lead !== null || row !== null) this.#leads.add(leadId);
  }

  /** A row of an unfinished create. */
  leaveRow(row: number): void {
    this.#rows.add(row);
  }

  /**
   * Counts the records of unfinished creates by their actions. `linked`: leads that are one record with a row that does not
   * carry their id yet. `waiting`: records without an action.
   */
  finish(actions: readonly PlannedAction[]): { readonly linked: number; readonly waiting: number } {
    const [leads, rows] = [new Set(this.#leads), new Set(this.#rows)];
    let linked = this.#found;
    for (const { kind, leadId, row } of actions) {
      const isLead = leadId !== null && this.#leads.has(leadId);
      if (isLead) leads.delete(leadId);
      if (row !== null && (kind === 'link' || !isLead)) rows.delete(row);
      if (isLead && kind === 'link') linked += 1;
    }
    // One of them is the one that is listed.
    const missed = Math.max(0, this.#missed.leads + this.#missed.rows - 1);
    return { linked, waiting: leads.size + rows.size + missed };
  }
}
