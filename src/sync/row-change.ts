import type pg from 'pg';
import { type Cells, isUnreadable, readable, sameCell, type Value, type Values } from '../core/lead/value.ts';
import { type Changes, plannedAction, shownBefore } from '../core/merge/action.ts';
import { putsBack, takenAway } from '../core/merge/put-back.ts';
import type { RowChange } from '../ports/target.ts';
import { type Action, type NewAction, writtenCells } from '../store/actions.ts';
import { sightedLeads } from '../store/run-sights.ts';
import { type HistoryEntry, valuesWritten } from '../store/history.ts';
import type { Run } from '../store/runs.ts';

/** An action as a change of the target. `was`: where a row stood that is written again. */
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
  // The next sync decides the status of a row that an undo brings back.
  const shown = isUndo || status === undefined ? {} : { status };
  switch (action.kind) {
    case 'create-row':
      return { kind: 'append', key, leadId, values, ...shown, ...(was !== undefined && { was }), isRepeated };
    case 'link':
      return { kind: 'link', key, leadId, expect, values, ...shown, isRepeated };
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

/** Whether an action changes an existing row. */
export const isReplacing = ({ kind }: Action): boolean => kind !== 'create-row';

/** The history of a written row; a removed one is kept as a whole. */
export function rowHistory(action: Action): HistoryEntry {
  const { id: actionId, leadId, kind } = action;
  const changes = kind === 'remove-row' ? takenAway(action, 'lead-edited') : action.changes;
  return { actionId, leadId: leadId ?? '', changes };
}

/** The next action on the row: a link for a new lead, or an update with what the service stored instead. */
export function actionsOnRow(action: Action, leadId: string, changes: Changes): readonly NewAction[] {
  if (action.kind === 'create-lead') {
    const { id: intentId } = action;
    return [{ ...action, kind: 'link', leadId, changes, reason: 'created', intentId, state: 'planned' }];
  }
  if (putsBack(action) || Object.keys(changes).length === 0) return [];
  const { row } = action;
  const expect = shownBefore(changes);
  return [plannedAction('update-row', { leadId, row, changes, expect, reason: 'stored-otherwise' })];
}

/** By lead, what a matched lead and the row that was just linked to it agree on. */
export async function basesOfMatched(
  db: pg.PoolClient,
  run: Run,
  done: readonly Action[],
): Promise<ReadonlyMap<string, Values>> {
  const links = done.filter(({ kind, reason }) => kind === 'link' && reason === 'matched');
  if (links.length === 0) return new Map();
  const leadIds = links.flatMap(({ leadId }) => leadId ?? []);
  const scanned = await sightedLeads(db, run, leadIds);
  const written = await valuesWritten(db, run, leadIds, 'lead');
  return new Map(
    links.map(({ leadId, expect, changes }) => {
      const id = leadId ?? '';
      const [lead, row]: [Cells, Cells] = [scanned.get(id) ?? {}, { ...expect, ...writtenCells(changes) }];
      const agreed = Object.entries(lead).filter(
        (entry): entry is [string, Value] =>
          !isUnreadable(entry[1]) && entry[0] in row && sameCell(entry[1], row[entry[0]] ?? null),
      );
      // A value that the service made of the row's value is nobody's edit.
      return [id, { ...Object.fromEntries(agreed), ...written.get(id) }] as const;
    }),
  );
}
