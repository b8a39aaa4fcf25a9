import { fingerprint } from '../lead/fingerprint.ts';
import { type Cells, showCell } from '../lead/value.ts';
import type { PlannedAction } from './action.ts';
import type { PairState } from './plan.ts';
import type { Policy } from './policy.ts';

/** A further row that carries an id which an earlier row has: never written, told. `mayBe`: leads whose row it may be. */
export function planDuplicateRow(leadId: string, row: number, mayBe?: readonly string[]): PlannedAction {
  const advice =
    mayBe === undefined ? 'Clear the id to make a new lead of this row, or delete the row' : idBack(mayBe);
  const message = `row ${row} carries an id that another row above it has: only the first is kept in step. ${advice}`;
  return {
    kind: 'hold',
    leadId,
    row,
    rowKey: `duplicate:${row}`,
    changes: {},
    expect: {},
    reason: 'row.duplicate-id',
    message,
  };
}

/** A row without id that may be the row of a lead whose row is gone: no second lead is made, no second row is written. */
export function planLostRow(
  row: number,
  cells: Cells,
  mayBe: readonly string[],
  policy: Policy,
): PlannedAction {
  const message = `row ${row}${named(cells)} has no id: no lead was made of it. ${idBack(mayBe)}`;
  return heldRow(row, cells, 'row.id-lost', message, policy);
}

/** A row whose id cell shows what is no id and cannot be written over: nothing is made of it. */
export function planUnreadableId(
  row: number,
  cells: Cells,
  shown: string,
  mayBe: readonly string[] | undefined,
  policy: Policy,
): PlannedAction {
  const whose = mayBe === undefined ? '' : ` It may be the row of lead ${someOf(mayBe)}.`;
  const message = `row ${row}${named(cells)} has ${showCell({ unreadable: shown })} in its id cell, which is no id and is not written over: nothing was changed, no lead was made of it, and while it is so no row counts as deleted.${whose} Type the id there as plain text, or empty the cell`;
  return heldRow(row, cells, 'row.id-unreadable', message, policy);
}

/** A new row into which no id can be written: `why`, as a sentence. Its lead would be made again and again. */
export function planClosedId(row: number, cells: Cells, why: string, policy: Policy): PlannedAction {
  const message = `row ${row}${named(cells)} is new, but no id can be written into it: ${why} No lead was made of it`;
  return heldRow(row, cells, 'row.id-closed', message, policy);
}

/** A row that carries the id of one lead and shows what another had. `others`: those; none: its own values stand elsewhere. */
export function planMovedRow(state: PairState, others: readonly string[]): PlannedAction {
  const what =
    others.length === 0
      ? 'other values than before, which stand in another row now'
      : `what lead ${someOf(others)} had`;
  const message = `row ${state.row?.row ?? '?'} carries the id of lead ${state.leadId} and shows ${what}: nothing was changed. Were ids or rows moved against each other? Put each id back beside its values; when it is meant so, run leadsync sync --allow rows-shuffled`;
  const { leadId } = state;
  return {
    kind: 'hold',
    leadId,
    row: state.row?.row ?? null,
    rowKey: '',
    changes: {},
    expect: {},
    reason: 'row.id-moved',
    message,
  };
}

function heldRow(row: number, cells: Cells, reason: string, message: string, policy: Policy): PlannedAction {
  const rowKey = fingerprint(cells, policy.fields);
  return { kind: 'hold', leadId: null, row, rowKey, changes: {}, expect: cells, reason, message };
}

/** What to do about a row that may be that of some leads. */
export function idBack(mayBe: readonly string[]): string {
  const areSeveral = mayBe.length > 1;
  return areSeveral
    ? `It may be the row of one of the leads ${someOf(mayBe)}, whose rows are gone and were not written again: write the right id into its id cell. When it is none of theirs, delete the row, sync, and add it again`
    : `It may be the row of lead ${someOf(mayBe)}, whose row is gone and was not written again: write this id into its id cell. When it is not, delete the row, sync, and add it again`;
}

const leadsShown = 3;

function someOf(leadIds: readonly string[]): string {
  const more = leadIds.length - leadsShown;
  return leadIds.slice(0, leadsShown).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function named({ companyName = null }: Cells): string {
  return companyName === null ? '' : ` (${showCell(companyName)})`;
}
