import { cellAt, type Grid } from './grid.ts';

/** The row with most of the earlier headings: people also insert rows above the first. */
export function headingRow(before: Grid, after: Grid): number {
  const headings = new Set((before[0] ?? []).map((_, column) => headingAt(before, 0, column)));
  let best = { row: 0, count: 0 };
  for (let row = 0; row < Math.min(after.length, 50); row++) {
    const shown = new Set((after[row] ?? []).map((_, column) => headingAt(after, row, column)));
    const count = [...headings].filter((heading) => heading !== '' && shown.has(heading)).length;
    if (count > best.count) best = { row, count };
  }
  return best.row;
}

/**
 * Maps each column of the first snapshot to the later one (null: gone): by heading where unique; then equal headings beside
 * known columns; then columns that fill a gap between known ones.
 */
export function alignColumns(before: Grid, after: Grid, headerAfter: number): (number | null)[] {
  const from = Array.from({ length: widthOf(before) }, (_, column) => headingAt(before, 0, column));
  const to = Array.from({ length: widthOf(after) }, (_, column) => headingAt(after, headerAfter, column));
  const [onlyFrom, onlyTo] = [onlyPlaces(from), onlyPlaces(to)];
  const places: (number | null)[] = from.map((heading) =>
    heading === '' || (onlyFrom.get(heading) ?? null) === null ? null : (onlyTo.get(heading) ?? null),
  );
  const taken = new Set(places.filter((place) => place !== null));
  const put = (column: number, now: number): void => {
    if (places[column] !== null || taken.has(now) || to[now] !== from[column]) return;
    places[column] = now;
    taken.add(now);
  };
  for (const column of from.keys()) {
    const left = column === 0 ? -1 : places[column - 1];
    if (typeof left === 'number') put(column, left + 1);
  }
  for (const column of [...from.keys()].toReversed()) {
    const right = places[column + 1];
    if (typeof right === 'number') put(column, right - 1);
  }
  return withGapsFilled(places, to.length);
}

/** Between two known columns, as many as before are the same, even with changed headings. */
function withGapsFilled(places: readonly (number | null)[], width: number): (number | null)[] {
  const filled = [...places];
  const taken = new Set(places);
  const ends = [...places, width];
  let last = { column: -1, place: -1 };
  for (const [column, place] of ends.entries()) {
    if (place === null) continue;
    if (place - last.place === column - last.column) {
      for (let each = last.column + 1; each < column; each++) {
        const free = last.place + each - last.column;
        if (!taken.has(free)) filled[each] = free;
      }
    }
    last = { column, place };
  }
  return filled;
}

/** The inverse mapping; null: the column did not exist. */
export function inverted(places: readonly (number | null)[], width: number): (number | null)[] {
  const back: (number | null)[] = Array.from({ length: width }, () => null);
  places.forEach((now, column) => {
    if (now !== null) back[now] = column;
  });
  return back;
}

/** Columns by heading; null: not unique. */
function onlyPlaces(headings: readonly string[]): ReadonlyMap<string, number | null> {
  const places = new Map<string, number | null>();
  for (const [place, heading] of headings.entries()) places.set(heading, places.has(heading) ? null : place);
  return places;
}

function headingAt(grid: Grid, row: number, column: number): string {
  const cell = cellAt(grid, row, column);
  return cell === null ? '' : JSON.stringify(cell);
}

export function widthOf(grid: Grid): number {
  let width = 0;
  for (const row of grid) width = Math.max(width, row.length);
  return width;
}
