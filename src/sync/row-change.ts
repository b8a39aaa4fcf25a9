import { type Cells, isUnreadable, type Value, type Values } from '../core/lead/value.ts';
import type { Changes } from '../core/merge/action.ts';
import { putsBack, takenAway } from '../core/merge/put-back.ts';
import { type Action, type NewAction, writtenCells } from '../store/actions.ts';
import type { HistoryEntry } from '../store/history.ts';
import type { RowChange } from '../ports/target.ts';

/** An action as the target is asked for it. `was`: where the row stood that is written again. */
export function rowChange(
  action: Action,
  deleted: string,
  status: string | undefined,
  was: number | undefined,
): RowChange {
  const key = String(action.id);
  const leadId = action.leadId ?? '';
  const { expect } = action;
  const isRepeated = action.attempts > 0;
  const isUndo = putsBack(action);
  const values = readable(writtenCells(action.changes));
  // What becomes of a row that is brought back is decided by the next sync.
  const told = isUndo || status === undefined ? {} : { status };
  switch (action.kind) {
    case 'create-row':
      return { kind: 'append', key, leadId, values, ...told, ...(was !== undefined && { was }), isRepeated };
    case 'link':
      return { kind: 'link', key, leadId, expect, values, ...told };
    case 'mark-row':
      return { kind: 'mark', key, leadId, expect, text: isUndo ? '' : deleted };
    case 'remove-row':
      return { kind: 'remove', key, leadId, expect, bare: isUndo };
    case 'unlink':
      return { kind: 'unlink', key, leadId, expect, values, again: !isUndo };
    default:
      return { kind: 'update', key, leadId, expect, values };
  }
}

/** What of cells can be written. */
export function readable(cells: Cells): Values {
  const entries = Object.entries(cells).filter((entry): entry is [string, Value] => !isUnreadable(entry[1]));
  return Object.fromEntries(entries);
}

/** Whether there is a row already that an action writes to. */
export const isReplacing = ({ kind }: Action): boolean => kind !== 'create-row';

/** What the history keeps of a row that is written; one that is removed is kept as a whole. */
export function rowHistory(action: Action): HistoryEntry {
  const { id: actionId, leadId, kind } = action;
  const changes = kind === 'remove-row' ? takenAway(action, 'lead-edited') : action.changes;
  return { actionId, leadId: leadId ?? '', side: 'row', changes };
}

/** The row of a new lead gets its id; one of a lead that stored something else than was sent shows what is stored. */
export function actionsOnRow(
  action: Action,
  leadId: string,
  changes: Changes,
  intentId: number | undefined,
): readonly NewAction[] {
  if (action.kind === 'create-lead' && intentId !== undefined)
    return [{ ...action, kind: 'link', leadId, changes, reason: 'created', intentId, state: 'planned' }];
  if (putsBack(action) || Object.keys(changes).length === 0) return [];
  const expect = Object.fromEntries(Object.entries(changes).map(([field, { from }]) => [field, from]));
  const { row } = action;
  return [{ kind: 'update-row', leadId, row, contentHash: '', changes, expect, reason: 'stored-otherwise' }];
}
