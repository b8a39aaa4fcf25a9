import { hashContent } from '../lead/content-hash.ts';
import { type Cells, showCell } from '../lead/value.ts';
import type { PlannedAction } from './action.ts';
import type { PairState } from './plan.ts';
import type { Policy } from './policy.ts';

/** A further row with an id that an earlier row has: never written. `mayBe`: leads it may belong to. */
export function planDuplicateRow(leadId: string, row: number, mayBe?: readonly string[]): PlannedAction {
  const advice =
    mayBe === undefined ? 'Clear the id to make a new lead of this row, or delete the row' : idBack(mayBe);
  const message = `row ${row} repeats the id of a row above it: only the first is synced. ${advice}`;
  return {
    kind: 'hold',
    leadId,
    row,
    contentHash: `duplicate:${row}`,
    changes: {},
    expect: {},
    reason: 'row.duplicate-id',
    message,
  };
}

/** A row without id that may belong to a lead whose row is gone: neither a second lead nor a second row is created. */
export function planLostRow(
  row: number,
  cells: Cells,
  mayBe: readonly string[],
  policy: Policy,
): PlannedAction {
  const message = `row ${row}${named(cells)} has no id: no lead was created. ${idBack(mayBe)}`;
  return heldRow(row, cells, 'row.id-lost', message, policy);
}

/** A row whose id cell shows something that is no id and must not be overwritten. */
export function planUnreadableId(
  row: number,
  cells: Cells,
  shown: string,
  mayBe: readonly string[] | undefined,
  policy: Policy,
): PlannedAction {
  const whose = mayBe === undefined ? '' : ` It may be the row of lead ${someOf(mayBe)}.`;
  const message = `row ${row}${named(cells)} has ${showCell({ unreadable: shown })} in its id cell, which is not an id: nothing was changed, no lead was created, and until this is fixed no row counts as deleted.${whose} Type the id there as plain text, or empty the cell`;
  return heldRow(row, cells, 'row.id-unreadable', message, policy);
}

/** A new row into which no id can be written (`why`, a sentence): every run would create its lead again. */
export function planClosedId(row: number, cells: Cells, why: string, policy: Policy): PlannedAction {
  const message = `row ${row}${named(cells)} is new, but no id can be written into it: ${why} No lead was created`;
  return heldRow(row, cells, 'row.id-closed', message, policy);
}

/** A row with the id of one lead and the content of others (`others`; empty: its own values are elsewhere). */
export function planMovedRow(state: PairState, others: readonly string[]): PlannedAction {
  const what =
    others.length === 0
      ? 'values that differ from before, while another row shows the earlier ones'
      : `what lead ${someOf(others)} had`;
  const message = `row ${state.row?.row ?? '?'} carries the id of lead ${state.leadId} and shows ${what}: nothing was changed. Were ids or rows shifted against each other? Put each id back beside its values; if this is intended, run leadsync sync --allow rows-shuffled`;
  const { leadId } = state;
  return {
    kind: 'hold',
    leadId,
    row: state.row?.row ?? null,
    contentHash: '',
    changes: {},
    expect: {},
    reason: 'row.id-moved',
    message,
  };
}

function heldRow(row: number, cells: Cells, reason: string, message: string, policy: Policy): PlannedAction {
  const contentHash = hashContent(cells, policy.fields);
  return { kind: 'hold', leadId: null, row, contentHash, changes: {}, expect: cells, reason, message };
}

/** Advice for a row that may belong to some leads. */
export function idBack(mayBe: readonly string[]): string {
  const areSeveral = mayBe.length > 1;
  return areSeveral
    ? `It may be the row of one of the leads ${someOf(mayBe)}, whose rows are gone and were not written again: type the right id into its id cell. If it is a new row, delete it, sync, and add it again`
    : `It may be the row of lead ${someOf(mayBe)}, whose row is gone and was not written again: type this id into its id cell. If it is a new row, delete it, sync, and add it again`;
}

const leadsShown = 3;

function someOf(leadIds: readonly string[]): string {
  const more = leadIds.length - leadsShown;
  return leadIds.slice(0, leadsShown).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function named({ companyName = null }: Cells): string {
  return companyName === null ? '' : ` (${showCell(companyName)})`;
}
