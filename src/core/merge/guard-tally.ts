import type { ActionKind, PlannedAction } from './action.ts';
import type { PlanCounts } from './guard.ts';

/** The reasons to write a row again. */
const goneRow: ReadonlySet<string> = new Set(['row-deleted', 'row-deleted-but-lead-edited']);

/** Counts what the guard looks at in the actions of a plan, without those that are left out of it. */
export class GuardTally {
  readonly #actions = new Map<
    string,
    { readonly kind: ActionKind; readonly reason: string; count: number }
  >();
  /** By field: pairs with a baseline in it that the plan changes, and leads in which it empties it. */
  readonly byField: Record<string, number> = {};
  readonly emptied: Record<string, number> = {};

  see({ kind, reason, changes }: Pick<PlannedAction, 'kind' | 'reason' | 'changes'>): void {
    this.add(kind, reason, 1);
    if (kind !== 'update-row' && kind !== 'update-lead') return;
    for (const [field, { to, base, rule }] of Object.entries(changes)) {
      if (base === undefined) continue;
      if (rule !== 'older-copy') countIn(this.byField, field, 1);
      if (kind === 'update-lead' && (to === null || to === '')) countIn(this.emptied, field, 1);
    }
  }

  add(kind: ActionKind, reason: string, count: number): void {
    if (count === 0) return;
    const key = `${kind} ${reason}`;
    const of = this.#actions.get(key) ?? { kind, reason, count: 0 };
    of.count += count;
    this.#actions.set(key, of);
  }

  /** `isBroughtForward`: a person chose to bring an older copy forward. `unknown`: rows whose id no lead has. */
  counts(isBroughtForward: boolean): Pick<PlanCounts, 'byKind' | 'rewritten'> & { readonly unknown: number } {
    const byKind: Record<string, number> = {};
    let [rewritten, unknown] = [0, 0];
    for (const { kind, reason, count } of this.#actions.values()) {
      if (reason === 'row.orphan' || reason === 'lead.unasked') unknown += count;
      // An update that only fills empty cells, such as a new column, overwrites nothing.
      if (kind === 'update-row' && reason === 'fills-empty') continue;
      if (isBroughtForward && (reason === 'older-copy' || goneRow.has(reason))) continue;
      countIn(byKind, kind, count);
      if (kind === 'create-row' && goneRow.has(reason)) rewritten += count;
    }
    return { byKind, rewritten, unknown };
  }
}

function countIn(counts: Record<string, number>, key: string, count: number): void {
  counts[key] = (counts[key] ?? 0) + count;
}
