import type { Aside } from '../lead/aside.ts';
import { type PlannedAction, plannedAction } from './action.ts';
import type { PairState } from './plan.ts';

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

/**
 * Where the row of each lead stands that was in step, or that is a whole row there. A mere mention of a lead that never
 * had a row is none.
 */
export function placesInCells(
  missing: readonly (Aside & { readonly hadRow: boolean })[],
): Elsewhere {
  const rows = missing.filter(({ leadId, kind, hadRow }) => leadId !== '' && (hadRow || kind !== 'note'));
  return new Map(rows.map(({ leadId, place }) => [leadId, place]));
}

/** By lead, where a row stands that its table does not show. */
export type Elsewhere = ReadonlyMap<string, string>;

/** What to do with a lead whose row is missed. `place`: its id stands there, so its row is neither written nor gone. */
export function planMissingRow(
  { leadId, lead }: PairState,
  actions: readonly PlannedAction[],
  place: string | undefined,
): readonly PlannedAction[] {
  if (place === undefined || actions.length === 0) return actions;
  if (lead === null) return [];
  const message = `lead ${leadId} has no row, but its id stands in another cell (${place}): no row was written, and no lead deleted. Put the row back, or take the id out of that cell`;
  return [plannedAction('hold', { leadId, reason: 'row.in-cell', message })];
}
