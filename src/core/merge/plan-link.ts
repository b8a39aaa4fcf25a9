import { fingerprint } from '../lead/fingerprint.ts';
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
 * The link of a row without id to the lead that was made of it, with whatever changed on either side since. `content`: what
 * was sent. What the service stored in a spelling of its own goes to a row that still shows what was sent; in one that was
 * edited since it is nobody's edit.
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
    rowKey: fingerprint(row.cells, policy.fields),
    changes: toRow?.changes ?? {},
    expect: row.cells,
    reason: 'settled-create',
  };
  return [
    link,
    ...merged.filter((candidate) => candidate.kind === 'update-lead' || candidate.kind === 'hold'),
  ];
}
