import type { Direction, FieldMapping } from '../lead/mapping.ts';
import { isImplausible } from '../lead/follow-up.ts';
import { isGarbled } from '../lead/garbled.ts';
import { type Cell, isUnreadable, sameCell, type Value } from '../lead/value.ts';
import type { Policy, Winner } from './policy.ts';

/** Why a value wins. Kept with each change and in the history. */
export type Rule =
  | 'lead-edited'
  | 'row-edited'
  | 'fills-empty'
  | Winner
  | 'one-way'
  | 'resolved'
  /** The side is an older copy, and a person chose to bring it forward. */
  | 'older-copy'
  /** A person requested it outside table and service. */
  | 'requested'
  /** The create of another row wrote it into a lead that was there. */
  | 'overwritten'
  /** Undone; the baseline stays, so that the value travels like any other edit. */
  | 'undone'
  /** Undone, and the baseline with it: the decision is open again. */
  | 'reopened';

export type HoldCode =
  | 'conflict.both-edited'
  | 'conflict.first-sight'
  | 'row.unreadable'
  | 'lead.unreadable'
  | 'row.unmapped'
  | 'lead.unmapped'
  | 'row.company-name-empty'
  | 'row.garbled'
  | 'lead.field-refused'
  | 'row.put-back'
  | 'lead.put-back';

/**
 * What happens with one field of a pair. `same`: nothing. `agree`: both sides show `value`, only the baseline moves.
 */
export type FieldDecision =
  | { readonly kind: 'same' }
  | { readonly kind: 'agree'; readonly value: Value }
  | { readonly kind: 'to-row'; readonly value: Value; readonly rule: Rule }
  | { readonly kind: 'to-lead'; readonly value: Value; readonly rule: Rule }
  | { readonly kind: 'hold'; readonly code: HoldCode };

/** What earlier runs recorded about this field; valid while both sides show what they showed then. */
export interface FieldMemo {
  /** Decided with `leadsync resolve`. */
  readonly resolution?: 'lead' | 'target' | null;
  /** The service refused or ignored the row's value. */
  readonly refused?: boolean;
  /** A merge covered the row's cell, and may have emptied it for good. */
  readonly covered?: boolean;
  /** This side shows an earlier value: it may be an older copy. */
  readonly putBack?: 'lead' | 'row' | null;
  /** A person chose to bring the older copy forward. */
  readonly forward?: boolean;
}

/** One field of a pair. `base` undefined: no baseline. */
export interface FieldState {
  readonly base: Value | undefined;
  readonly lead: Cell;
  readonly row: Cell;
  readonly memo?: FieldMemo | undefined;
}

/** The merge rules of docs/architecture.md 5, field by field. Pure. */
export function mergeField(state: FieldState, mapping: FieldMapping, policy: Policy): FieldDecision {
  const decision = orPutBack(state, decide(state, mapping.direction, policy), mapping.direction);
  // A person wanted the row's value back in the lead.
  const isBack = decision.kind === 'to-row' && decision.rule === 'lead-edited';
  if (isBack && state.memo?.refused && mapping.direction !== 'to-target') return hold('lead.field-refused');
  if (decision.kind !== 'to-lead') return decision;
  if (mapping.field === 'companyName' && isEmpty(decision.value)) return hold('row.company-name-empty');
  if (isImplausible(decision.value, mapping)) return hold('row.unreadable');
  if (state.memo?.refused) return hold('lead.field-refused');
  return decision.rule !== 'resolved' && isGarbledRow(state) ? hold('row.garbled') : decision;
}

/** Whether a program saved the row's value in another encoding: nobody edited it. */
function isGarbledRow({ base, lead, row }: FieldState): boolean {
  return (
    typeof row === 'string' &&
    [base, lead].some((meant) => typeof meant === 'string' && isGarbled(row, meant))
  );
}

/** The decision, unless the value may come from an older copy: then it does not travel. */
function orPutBack(
  { lead, row, memo }: FieldState,
  decision: FieldDecision,
  direction: Direction,
): FieldDecision {
  const { putBack: side = null, resolution = null, forward = false } = memo ?? {};
  if (side === null || resolution !== null || isUnreadable(lead) || isUnreadable(row)) return decision;
  if (decision.kind === 'same' || decision.kind === 'agree') return decision;
  if (forward && direction === 'two-way') {
    return side === 'row'
      ? { kind: 'to-row', value: lead, rule: 'older-copy' }
      : { kind: 'to-lead', value: row, rule: 'older-copy' };
  }
  const isCarriedOver = decision.kind === (side === 'row' ? 'to-lead' : 'to-row');
  return isCarriedOver ? hold(`${side}.put-back`) : decision;
}

function decide(state: FieldState, direction: Direction, policy: Policy): FieldDecision {
  const { base, lead, row, memo } = state;
  if (isUnreadable(row)) {
    if (memo?.resolution === 'lead' && !isUnreadable(lead))
      return { kind: 'to-row', value: lead, rule: 'resolved' };
    return hold(unreadCode('row', row));
  }
  if (isUnreadable(lead)) {
    if (memo?.resolution === 'target' && direction !== 'to-target') {
      return { kind: 'to-lead', value: row, rule: 'resolved' };
    }
    if (lead.why === 'unmapped' && base !== undefined) {
      // Both sides had this word before anybody told what the table's mean.
      const isUnchanged = sameCell(lead.unreadable, base);
      if (isUnchanged && direction !== 'to-target')
        return { kind: 'to-lead', value: row, rule: 'row-edited' };
      if (direction === 'to-leads') return { kind: 'to-lead', value: row, rule: 'one-way' };
    }
    return hold(unreadCode('lead', lead));
  }
  if (sameCell(lead, row)) {
    return base !== undefined && sameCell(base, lead) ? same : { kind: 'agree', value: lead };
  }
  const toRow = (rule: Rule): FieldDecision => ({ kind: 'to-row', value: lead, rule });
  const toLead = (rule: Rule): FieldDecision => ({ kind: 'to-lead', value: row, rule });

  if (memo?.resolution === 'lead') return toRow('resolved');
  if (memo?.resolution === 'target' && direction !== 'to-target') return toLead('resolved');

  // Unmerging leaves covered cells empty: nobody emptied them.
  if (memo?.covered && isEmpty(row) && direction !== 'to-leads') return toRow('fills-empty');
  if (base === undefined) return firstSight(state, direction, policy, toRow, toLead);
  if (sameCell(lead, base)) return direction === 'to-target' ? toRow('one-way') : toLead('row-edited');
  if (sameCell(row, base)) return direction === 'to-leads' ? toLead('one-way') : toRow('lead-edited');
  if (direction === 'to-target') return toRow('one-way');
  if (direction === 'to-leads') return toLead('one-way');
  switch (policy.onConflict) {
    case 'leads-win':
      return toRow('leads-win');
    case 'target-wins':
      return toLead('target-wins');
    case 'hold':
      return hold('conflict.both-edited');
    default:
      return policy.onConflict satisfies never;
  }
}

/** Two different values without a baseline: an empty side takes the other's, else the policy decides. */
function firstSight(
  { lead, row }: FieldState,
  direction: Direction,
  policy: Policy,
  toRow: (rule: Rule) => FieldDecision,
  toLead: (rule: Rule) => FieldDecision,
): FieldDecision {
  const leadMayBeWritten = direction !== 'to-target';
  const rowMayBeWritten = direction !== 'to-leads';
  if (isEmpty(row) && rowMayBeWritten) return toRow('fills-empty');
  if (isEmpty(lead) && leadMayBeWritten) return toLead('fills-empty');
  // Values of a one-way field must not be emptied either.
  const held = hold('conflict.first-sight');
  if (isEmpty(row) || isEmpty(lead)) return held;
  switch (policy.onFirstSync) {
    case 'leads-win':
      return rowMayBeWritten ? toRow('leads-win') : held;
    case 'target-wins':
      return leadMayBeWritten ? toLead('target-wins') : held;
    case 'hold':
      return held;
    default:
      return policy.onFirstSync satisfies never;
  }
}

/** Why a cell that cannot be read is held. */
export function unreadCode<Side extends 'lead' | 'row'>(side: Side, cell: Cell) {
  return `${side}.${isUnreadable(cell) && cell.why === 'unmapped' ? 'unmapped' : 'unreadable'}` as const;
}

const isEmpty = (cell: Cell): boolean => sameCell(cell, null);

/** Shared: most fields need no decision. */
const same: FieldDecision = { kind: 'same' };

const hold = (code: HoldCode): FieldDecision => ({ kind: 'hold', code });
