import { isWithin } from './a1.ts';
import type { TabDescription } from './tab-description.ts';

type Protected = Pick<TabDescription, 'protections'>;

export function isProtected({ protections }: Protected, row: number, column: number): boolean {
  return protections.some(
    (area) => isWithin(area, row, column) && !area.except.some((open) => isWithin(open, row, column)),
  );
}

/** Whether a new row would be within a protected range, such as a whole column: Google then refuses to insert one. */
export function isClosedAt({ protections }: Protected, at: number): boolean {
  return protections.some(
    ({ startRow, endRow }) => startRow < at && (endRow ?? Number.POSITIVE_INFINITY) > at,
  );
}

/** Those of the columns that have a cell below the headings which we may not write. */
export function protectedColumns(
  tab: Protected & Pick<TabDescription, 'rowCount'>,
  columns: Iterable<number>,
): number[] {
  // The first of such cells stands where an area begins, or right below a part of it that is open.
  const rows = tab.protections.flatMap(({ startRow, except }) => [
    Math.max(startRow, 1),
    ...except.flatMap(({ endRow }) => endRow ?? []),
  ]);
  return [...columns]
    .filter((column) => rows.some((row) => row < tab.rowCount && isProtected(tab, row, column)))
    .toSorted((one, other) => one - other);
}
