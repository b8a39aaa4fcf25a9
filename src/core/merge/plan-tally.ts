import type { PlannedAction } from './action.ts';
import { type Difference, type LooseRow, RecordTally, type Sight } from './difference.ts';
import { missedCode } from './plan-rows.ts';

/** Counts records that differ, or may differ, and have no action. */
export class PlanTally {
  readonly records = new RecordTally();
  /** Equal in all fields that both sides show. */
  equal = 0;
  /** Differ and stay so, by the settings or without a proof. */
  leftAlone = 0;
  /** Rows that people paused: they are left alone. */
  paused = 0;
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

  /** A lead whose row is paused; copies of that row are held. */
  seePaused(sight: Sight): void {
    this.records.seePaused(sight);
    this.paused += 1;
    if (!sight.isCopied) this.leftAlone += 1;
  }

  /** A paused row that no lead id names; one with the id of a row above it is no record. */
  seePausedRow(row: LooseRow): void {
    this.paused += 1;
    if (row.leadId !== null) return;
    this.records.seeLoose(row);
    this.leftAlone += 1;
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
