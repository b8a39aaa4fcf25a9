import type { PlannedAction } from '../core/merge/action.ts';
import type { Difference } from '../store/differences.ts';

/** Counts the records that differ, or may, and get no action of their own. */
export class PlanTally {
  /** Equal in every field that both sides show. */
  equal = 0;
  /** Differ and stay so, by the settings or for want of proof. */
  leftAlone = 0;
  /** Rows apart from the table, which are no records. */
  apart = 0;
  /** Rows that are reported with the lead that they may be. */
  toldWithLead = 0;
  #found = 0;
  readonly #leads = new Set<string>();
  readonly #rows = new Set<number>();

  /** A pair that was planned; `isFound`: with a row that has lost its id. One whose id stands in a further row is held for that. */
  see({ lead, row, isCopied }: Difference, actions: readonly PlannedAction[], isFound: boolean): void {
    if (isFound && lead !== null) this.#found += 1;
    if (isCopied || (lead === null && row === null)) return;
    if (actions.length === 0) this.leftAlone += 1;
    else if (actions.every(({ kind }) => kind === 'agree')) this.equal += 1;
  }

  /** A lead that is a create's, or may be. */
  leaveLead({ leadId, lead, row }: Difference): void {
    if (lead !== null || row !== null) this.#leads.add(leadId);
  }

  /** A row without id that a lead is being made of. */
  leaveRow(row: number): void {
    this.#rows.add(row);
  }

  /**
   * What was left to unfinished creates, by what is planned for these. `linked`: leads that are one record with a
   * row that does not carry their id yet. `waiting`: records that no action tells of.
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
    return { linked, waiting: leads.size + rows.size };
  }
}
