import { hashContent } from '../lead/content-hash.ts';
import { type Cells, isUnreadable, sameCell } from '../lead/value.ts';
import type { Change, PlannedAction } from './action.ts';
import { holdMessage, undoneMessages } from './hold-message.ts';
import type { Policy } from './policy.ts';

/** Why exactly this content does not become a lead. */
export interface Refused {
  readonly code: 'lead.create-refused' | 'row.undone';
  readonly message: string;
}

/** An undo deleted the lead created from it. */
export const undoneRow: Refused = { code: 'row.undone', message: undoneMessages['row.undone'] };

/**
 * A row without id and without an intent. `refused`: why exactly this content is not sent. A lead without a name is
 * never sent, not even when the name column is missing in this run.
 */
export function planNewRow(
  row: number,
  cells: Cells,
  refused: Refused | null,
  policy: Policy,
): readonly PlannedAction[] {
  const changes: Record<string, Change> = {};
  const contentHash = hashContent(cells, policy.fields);
  const common = { leadId: null, row, contentHash, changes: {}, expect: cells };
  const holds: PlannedAction[] = [];
  for (const mapping of policy.fields) {
    const { field } = mapping;
    const cell = cells[field] ?? null;
    if (isUnreadable(cell)) {
      const held = { [field]: { from: null, to: cell } };
      const message = holdMessage('row.unreadable', mapping, null, cell);
      holds.push({ ...common, kind: 'hold', changes: held, reason: 'row.unreadable', message });
    } else if (mapping.direction !== 'to-target' && !sameCell(cell, null)) {
      changes[field] = { from: null, to: cell, rule: 'row-edited' };
    }
  }
  if (policy.direction === 'to-target') {
    const message = `row ${row} has no id; direction is to-target, so no lead is created`;
    return [{ ...common, kind: 'report', reason: 'row.without-id', message }];
  }
  const name = policy.fields.find(({ field }) => field === 'companyName');
  if (name?.direction === 'to-target' || (name === undefined && Object.keys(changes).length === 0)) {
    const message = `row ${row} has no id; none of its fields travels to the service, so no lead is created`;
    return [{ ...common, kind: 'report', reason: 'row.without-id', message }];
  }
  if (name !== undefined && !('companyName' in changes)) {
    const message = `row ${row} is new but has no company name: no lead was created. Fill in the name, or empty the row`;
    return [{ ...common, kind: 'hold', reason: 'row.company-name-empty', message }];
  }
  if (refused !== null) return [{ ...common, kind: 'hold', reason: refused.code, message: refused.message }];
  return [...holds, { ...common, kind: 'create-lead', changes, reason: 'new-row' }];
}
