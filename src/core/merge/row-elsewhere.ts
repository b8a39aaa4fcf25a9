import type { Aside } from '../lead/aside.ts';
import { type Actions, type PlannedAction, plannedAction } from './action.ts';
import type { PairState } from './plan.ts';
import type { LiveScan } from './live-scan.ts';

/** A cell, or lines of a file, in which whole rows of the table stand. */
export interface MisreadCell {
  readonly place: string;
  readonly leadIds: readonly string[];
  /** Whether rows without an id are among them. */
  readonly bare: boolean;
}

/** Cells that hold whole rows: the table was misread. `missing`: what stands in a cell and in no row. */
export function misreadCells(missing: readonly Aside[]): readonly MisreadCell[] {
  const byPlace = Map.groupBy(
    missing.filter(({ kind }) => kind !== 'note'),
    ({ place }) => place,
  );
  return [...byPlace].map(([place, found]) => {
    const leadIds = new Set(found.flatMap(({ leadId }) => (leadId === '' ? [] : [leadId])));
    return { place, leadIds: [...leadIds], bare: found.some(({ leadId }) => leadId === '') };
  });
}

/** A row in the table of another connection of the same service, as of its last sync. */
export interface OtherTable {
  readonly connection: string;
  /** How its place is called; null: it is not known. */
  readonly address: string | null;
  /** Null: not known. */
  readonly row: number | null;
}

/** By lead, where a row stands that its table does not show: in another cell of it, or in another table. */
export type Elsewhere = ReadonlyMap<string, string | OtherTable>;

/**
 * Where the row of each lead stands that was in step, or that is a whole row there. A mere mention of a lead that never
 * had a row is none.
 */
export function placesInCells(
  missing: readonly (Aside & { readonly hadRow: boolean })[],
): ReadonlyMap<string, string> {
  const rows = missing.filter(({ leadId, kind, hadRow }) => leadId !== '' && (hadRow || kind !== 'note'));
  return new Map(rows.map(({ leadId, place }) => [leadId, place]));
}

/**
 * What to do with a lead whose row is missed. `actions`: what its absence means otherwise; `where`: the row stands there,
 * so that it is neither written again nor gone.
 */
export function planMissingRow(
  { leadId, lead }: PairState,
  actions: Actions,
  where: string | OtherTable | undefined,
): Actions {
  if (where === undefined || actions.length === 0) return actions;
  if (lead === null) return [];
  const kept = 'no row was written, and no lead deleted';
  if (typeof where === 'string') {
    const message = `the lead has no row, but its id stands in another cell (${where}): ${kept}. Put the row back, or take the id out of that cell`;
    return [plannedAction('hold', { leadId, reason: 'row.in-cell', message })];
  }
  const { connection } = where;
  const message = `the row of this lead stands in ${tableOf(where)}: ${kept} here. Move the row back, or delete it there, then run leadsync sync --connection ${connection}. If that connection is no longer used: leadsync forget ${connection}`;
  return [plannedAction('hold', { leadId, reason: 'row.moved', message })];
}

/** The table to which a row belongs; `isThere`: that table has a row of the lead as well. */
export interface Home extends OtherTable {
  readonly isThere: boolean;
}

/**
 * A row whose lead the list lacks, with an id that another connection keeps; null: it is not moved. A row that was in step
 * here stays what it is while the lead has a row there: the lead went into the other list by itself.
 */
export function planRowOfOther(
  { leadId, row, base, lead }: PairState,
  home: Home | undefined,
): PlannedAction | null {
  if (home === undefined || lead !== null || row === null) return null;
  if (base !== null && home.isThere) return null;
  const what = home.isThere
    ? `whose row stands in ${tableOf(home)} too: this one was not synced. Delete one of the two`
    : `that belongs to ${tableOf({ ...home, row: null })}, where its row is gone: nothing was changed. Move the row back there`;
  const message = `row ${row.row} carries the id of a lead ${what}; or, if it is to stay here, change the lead in the service so that the list of this connection (leads.query) shows it. To clear the id would make a second lead`;
  return plannedAction('hold', { leadId, row: row.row, reason: 'row.moved', message });
}

function tableOf({ connection, address, row }: OtherTable): string {
  const which = address === null ? 'the table' : address;
  return `${which} of the connection ${connection}${row === null ? '' : ` (row ${row} when it was last synced)`}`;
}

/** An id without a row of its own, or a record without an id, that stands in another cell. */
export interface RowInCell extends Aside {
  /** A row of it was in step once. */
  readonly hadRow: boolean;
}

/**
 * What the table shows in other cells and in no row: ids of pairs and of leads of the scan, and, where a text is a table in
 * itself, all ids.
 */
export function rowsInCells(scan: LiveScan): readonly RowInCell[] {
  const found = new Map<string, RowInCell>();
  for (const aside of scan.asides) {
    const leadId = scan.spelled(aside.leadId);
    if (leadId !== '' && !isInNoRow(scan, leadId, aside.kind)) continue;
    const hadRow = scan.base.wasInStep(scan.base.find(leadId));
    found.set(JSON.stringify([aside.place, leadId, aside.kind]), { ...aside, leadId, hadRow });
  }
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

function isInNoRow(scan: LiveScan, leadId: string, kind: Aside['kind']): boolean {
  if (scan.isPair(leadId)) return scan.missed(leadId).row && scan.merged(leadId) === null;
  return !scan.hasRow(leadId) && (kind === 'table' || scan.hasLead(leadId));
}
