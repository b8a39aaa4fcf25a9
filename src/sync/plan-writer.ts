import type pg from 'pg';
import { readable } from '../core/lead/value.ts';
import { charactersIn, mostTogether } from '../core/lead/text-size.ts';
import type { Problem } from '../lib/errors.ts';
import { type ActionKind, putOffReasons } from '../core/merge/action.ts';
import type { BaselineMove } from '../core/merge/baseline-moves.ts';
import type { Absences } from '../core/merge/difference.ts';
import { GuardTally } from '../core/merge/guard.ts';
import type { Review } from '../review/pick-approved.ts';
import { insertActions, type NewAction, writtenCells } from '../store/actions.ts';
import { keepMoves } from '../store/baselines.ts';
import type { Run } from '../store/runs.ts';

const batchSize = 500;

/** A sentence; null: the table takes the text. */
export type WhyNotStorable = (field: string, text: string) => string | null;

const writesValues: ReadonlySet<ActionKind> = new Set(['create-row', 'update-row', 'link']);

/** Stores actions in batches and, of a sync, the moves of baselines without an action. */
export class PlanWriter {
  readonly guarded = new GuardTally();
  written = 0;
  moves = 0;
  /** What the table will not take of what is planned. */
  readonly unstorable: Problem[] = [];
  readonly #db: pg.PoolClient;
  readonly #run: Run;
  readonly #review: Review | null;
  readonly #whyNot: WhyNotStorable;
  #buffer: NewAction[] = [];
  #moves: BaselineMove[] = [];
  /** Characters of both. */
  #size = 0;
  #storing = Promise.resolve();

  constructor(db: pg.PoolClient, run: Run, review: Review | null, whyNot: WhyNotStorable = () => null) {
    this.#db = db;
    this.#run = run;
    this.#review = review;
    this.#whyNot = whyNot;
  }

  async add(...actions: readonly NewAction[]): Promise<void> {
    for (const action of actions) {
      this.#size += charactersIn(action);
      if (action.kind === 'agree' && action.leadId !== null) {
        const values = readable(writtenCells(action.changes));
        const fields = Object.keys(values);
        this.#moves.push({ to: 'agreed', leadId: action.leadId, values, had: { lead: fields, row: fields } });
      } else if (action.kind === 'forget' && action.leadId !== null) {
        this.#moves.push({ to: 'forgotten', leadId: action.leadId });
      } else {
        const isPutOff = action.kind === 'report' && putOffReasons.has(action.reason);
        const stored: NewAction = isPutOff ? { ...action, state: 'deferred' } : action;
        for (const one of this.#review?.pick(stored) ?? [stored]) {
          this.#buffer.push(one);
          if (one.state === 'left-out') continue;
          this.guarded.see(one);
          this.#lookAtValues(one);
        }
      }
    }
    const isMuch = this.#size >= mostTogether;
    if (isMuch || this.#buffer.length + this.#moves.length >= batchSize) await this.#flush();
  }

  #lookAtValues({ kind, leadId, row, changes }: NewAction): void {
    if (!writesValues.has(kind)) return;
    for (const [field, { to }] of Object.entries(changes)) {
      const message = typeof to === 'string' ? this.#whyNot(field, to) : null;
      if (message === null) continue;
      const where = { ...(leadId !== null && { leadId }), ...(row !== null && { row }) };
      this.unstorable.push({ code: 'target.value-not-storable', message, ...where });
      return;
    }
  }

  /** Of a sync: how often a pair was missed by now. */
  count(absences: Absences | null): void {
    if (absences === null) return;
    const { leadId, place, ...missed } = absences;
    const row = place ?? undefined;
    this.#moves.push({ to: 'missed', leadId, row, missed: { ...missed, run: this.#run.id } });
  }

  async end(): Promise<void> {
    await this.#flush();
    await this.#storing;
  }

  /**
   * Rejects with why something could not be stored, if so: what reads within the transaction is only told that it is over, and
   * not that the database is away.
   */
  async failure(error: unknown): Promise<never> {
    await this.#storing;
    throw error;
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

  async #store(actions: readonly NewAction[], moves: readonly BaselineMove[]): Promise<void> {
    await insertActions(this.#db, this.#run, actions);
    if (moves.length > 0) await keepMoves(this.#db, moves);
  }
}
