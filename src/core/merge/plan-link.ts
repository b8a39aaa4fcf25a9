import { hashContent } from '../lead/content-hash.ts';
import {
  type Cells,
  isUnreadable,
  sameButSpelling,
  sameCell,
  type Value,
  type Values,
} from '../lead/value.ts';
import { type PlannedAction, plannedAction } from './action.ts';
import { type PairState, planPair } from './plan.ts';
import type { Policy } from './policy.ts';

/**
 * Gives a row without id the id of its lead, with what the merge of the two writes into the row. `others`: what else the
 * merge does.
 */
function linkRow(
  state: PairState,
  policy: Policy,
  reason: string,
  message?: string,
): { readonly link: PlannedAction; readonly others: readonly PlannedAction[] } {
  const { row, cells } = state.row ?? { row: null, cells: {} };
  const merged = planPair(state, policy);
  const toRow = merged.find(({ kind }) => kind === 'update-row');
  const link = plannedAction('link', {
    leadId: state.leadId,
    row,
    contentHash: hashContent(cells, policy.fields),
    changes: { ...toRow?.changes },
    expect: cells,
    reason,
    ...(message !== undefined && { message }),
  });
  return { link, others: merged.filter((one) => one !== toRow) };
}

const isNoAgreement = ({ kind }: PlannedAction): boolean => kind !== 'agree';

/** Gives a row that lost its id, and shows what its lead shows, the id back. */
export function planFoundRow(state: PairState, policy: Policy): readonly PlannedAction[] {
  const { link, others } = linkRow(state, policy, 'id-lost');
  return [link, ...others];
}

/**
 * Links a new row and a new lead that are the same, by the rules of a first sight. The baseline moves with the link, not
 * before: until then they are two. `message`: the evidence.
 */
export function planMatchedRow(state: PairState, policy: Policy, message: string): readonly PlannedAction[] {
  const { link, others } = linkRow(state, policy, 'matched', message);
  const { contentHash } = link;
  const withHash = others.map((one) => (one.kind === 'update-lead' ? { ...one, contentHash } : one));
  return [...withHash.filter(isNoAgreement), link];
}

/**
 * Links a row without id to the lead created from it, with later changes of either side. `content`: what was sent. The
 * service's own spelling goes to a row that still shows what was sent; in a row edited since, the difference counts as
 * nobody's edit.
 */
export function planLink(
  leadId: string,
  content: Values,
  lead: Cells | null,
  row: { readonly row: number; readonly cells: Cells },
  policy: Policy,
): readonly PlannedAction[] {
  const base = Object.entries(content).map(([field, sent]): [string, Value] => {
    const stored = lead?.[field] ?? null;
    const isEdited = !sameCell(row.cells[field] ?? null, sent);
    return [field, isEdited && sameButSpelling(sent, stored) && !isUnreadable(stored) ? stored : sent];
  });
  const pair: PairState = {
    leadId,
    base: Object.fromEntries(base),
    lead: lead ?? content,
    row,
    memo: {},
    leadAbsences: 0,
    rowAbsences: 0,
    deletionDone: false,
  };
  const { link, others } = linkRow(pair, policy, 'settled-create');
  return [link, ...others.filter(isNoAgreement)];
}
