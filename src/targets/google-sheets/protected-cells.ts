import { isWithin } from './grid.ts';
import type { TabDescription } from './tab-description.ts';

type Protected = Pick<TabDescription, 'protections'>;

export function isProtected({ protections }: Protected, row: number, column: number): boolean {
  return protections.some(
    (area) => isWithin(area, row, column) && !area.except.some((open) => isWithin(open, row, column)),
  );
}

/** Whether a new row would be in a protected range, such as a whole column: Google refuses to insert it. */
export function isClosedAt({ protections }: Protected, at: number): boolean {
  return protections.some(
    ({ startRow, endRow }) => startRow < at && (endRow ?? Number.POSITIVE_INFINITY) > at,
  );
}

/** Columns with a cell below the headings that we may not write. */
export function protectedColumns(
  tab: Protected & Pick<TabDescription, 'rowCount'>,
  columns: Iterable<number>,
): number[] {
  // The first such cell is where an area begins, or just below an open part of it.
  const rows = tab.protections.flatMap(({ startRow, except }) => [
    Math.max(startRow, 1),
    ...except.flatMap(({ endRow }) => endRow ?? []),
  ]);
  return [...columns]
    .filter((column) => rows.some((row) => row < tab.rowCount && isProtected(tab, row, column)))
    .toSorted((one, other) => one - other);
}
