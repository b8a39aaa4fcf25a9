import { hashContent } from '../lead/content-hash.ts';
import {
  type Cells,
  isUnreadable,
  sameButSpelling,
  sameCell,
  type Value,
  type Values,
} from '../lead/value.ts';
import type { PlannedAction } from './action.ts';
import { type PairState, planPair } from './plan.ts';
import type { Policy } from './policy.ts';

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
  const entries = Object.entries(content).map(([field, sent]): [string, Value] => {
    const stored = lead?.[field] ?? null;
    const isEdited = !sameCell(row.cells[field] ?? null, sent);
    return [field, isEdited && sameButSpelling(sent, stored) && !isUnreadable(stored) ? stored : sent];
  });
  const pair: PairState = {
    leadId,
    base: Object.fromEntries(entries),
    lead: lead ?? content,
    row,
    memo: {},
    leadAbsences: 0,
    rowAbsences: 0,
    deletionDone: false,
  };
  const merged = planPair(pair, policy);
  const toRow = merged.find((candidate) => candidate.kind === 'update-row');
  const link: PlannedAction = {
    kind: 'link',
    leadId,
    row: row.row,
    contentHash: hashContent(row.cells, policy.fields),
    changes: toRow?.changes ?? {},
    expect: row.cells,
    reason: 'settled-create',
  };
  return [
    link,
    ...merged.filter((candidate) => candidate.kind === 'update-lead' || candidate.kind === 'hold'),
  ];
}
