import { type Cell, type Cells, isUnreadable, sameCell, type Value } from '../../src/core/lead/value.ts';
import type { Changes, PlannedAction } from '../../src/core/merge/action.ts';
import type { PairState } from '../../src/core/merge/plan.ts';

/** The world of one lead after its plan was carried out and every write confirmed. */
export interface AfterPlan {
  readonly state: PairState;
  readonly held: readonly { readonly field: string; readonly lead: Cell; readonly row: Cell }[];
  /** What was overwritten or removed. */
  readonly history: readonly { readonly field: string; readonly before: Cell }[];
}

/**
 * Carries out the plan of one lead in memory, by the rules of docs/architecture.md 4: writes what each action says, keeps what it
 * overwrites, and moves the baseline only for what both sides then show. What was remembered of a field holds only
 * while both sides show what they showed then.
 */
export function afterPlan(before: PairState, actions: readonly PlannedAction[]): AfterPlan {
  let { lead, row, base, deletionDone, leadAbsences, rowAbsences } = before;
  const held: { field: string; lead: Cell; row: Cell }[] = [];
  const history: { field: string; before: Cell }[] = [];
  const overwrite = (cells: Cells, changes: Changes): Cells => {
    for (const [field, { from }] of Object.entries(changes)) history.push({ field, before: from });
    return { ...cells, ...writtenBy(changes) };
  };
  const remove = (cells: Cells): null => {
    for (const [field, cell] of Object.entries(cells)) history.push({ field, before: cell });
    return null;
  };
  for (const { kind, changes, expect } of actions) {
    switch (kind) {
      case 'create-row':
        row = { row: 99, cells: { ...emptied(lead), ...writtenBy(changes) } };
        base = Object.assign({}, base, writtenBy(changes));
        rowAbsences = 0;
        break;
      case 'update-row':
      case 'link':
        if (row !== null) row = { ...row, cells: overwrite(row.cells, changes) };
        base = Object.assign({}, base, writtenBy(changes));
        break;
      case 'update-lead':
        if (lead !== null) lead = overwrite(lead, changes);
        base = Object.assign({}, base, writtenBy(changes));
        break;
      case 'agree':
        base = Object.assign({}, base, writtenBy(changes));
        break;
      case 'mark-row':
        deletionDone = true;
        break;
      case 'remove-row':
        row = remove(expect);
        deletionDone = true;
        rowAbsences = 1;
        break;
      case 'delete-lead':
        lead = remove(expect);
        leadAbsences = 1;
        break;
      case 'forget':
        base = null;
        leadAbsences = 0;
        rowAbsences = 0;
        deletionDone = false;
        break;
      case 'hold':
        for (const [field, { from, to }] of Object.entries(changes))
          held.push({ field, lead: from, row: to });
        break;
      case 'report':
        break;
      default:
        throw new Error(`no plan of one lead holds ${kind}`);
    }
  }
  const memo = Object.fromEntries(
    Object.entries(before.memo).filter(
      ([field]) =>
        sameCell(before.lead?.[field] ?? null, lead?.[field] ?? null) &&
        sameCell(before.row?.cells[field] ?? null, row?.cells[field] ?? null),
    ),
  );
  return {
    state: { ...before, lead, row, base, memo, deletionDone, leadAbsences, rowAbsences },
    held,
    history,
  };
}

function writtenBy(changes: Changes): Record<string, Value> {
  const values: Record<string, Value> = {};
  for (const [field, { to }] of Object.entries(changes)) {
    if (isUnreadable(to)) throw new Error(`${field} would be written with what cannot be read`);
    values[field] = to;
  }
  return values;
}

/** A new row has a cell in every column. */
function emptied(cells: Cells | null): Cells {
  return Object.fromEntries(Object.keys(cells ?? {}).map((field) => [field, null]));
}
