import { type Cells, isUnreadable, type Value, type Values } from '../core/lead/value.ts';
import { type Action, writtenCells } from '../store/actions.ts';
import type { Run } from '../store/runs.ts';
import type { RowChange } from '../ports/target.ts';

/** An action as the target is asked for it. `was`: where the row stood that is written again. */
export function rowChange(
  { undoOf }: Run,
  action: Action,
  deleted: string,
  status: string | undefined,
  was: number | undefined,
): RowChange {
  const key = String(action.id);
  const leadId = action.leadId ?? '';
  const { expect } = action;
  const isRepeated = action.tries > 0;
  const values = readable(writtenCells(action.changes));
  // What becomes of a row that is brought back is decided by the next sync.
  const told = undoOf !== null || status === undefined ? {} : { status };
  switch (action.kind) {
    case 'create-row':
      return { kind: 'append', key, leadId, values, ...told, ...(was !== undefined && { was }), isRepeated };
    case 'link':
      return { kind: 'link', key, leadId, expect, values, ...told };
    case 'mark-row':
      return { kind: 'mark', key, leadId, expect, text: undoOf === null ? deleted : '' };
    case 'remove-row':
      return { kind: 'remove', key, leadId, expect, bare: undoOf !== null };
    case 'unlink':
      return { kind: 'unlink', key, leadId, expect, values, again: undoOf === null };
    default:
      return { kind: 'update', key, leadId, expect, values };
  }
}

/** What of cells can be written. */
export function readable(cells: Cells): Values {
  const entries = Object.entries(cells).filter((entry): entry is [string, Value] => !isUnreadable(entry[1]));
  return Object.fromEntries(entries);
}
