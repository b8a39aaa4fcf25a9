import type { Alignment } from './alignment.ts';
import { cellAt, type GridCell, sameGridCell } from './grid.ts';
import { meantRow, type SentRow } from './verify.ts';

/**
 * Rows and columns were moved between a look and a write, so that what was sent (`astray`) landed in other cells than
 * were meant. Gives back to each of them what the look saw there: rows are known by their id, else by the content of
 * their other cells, columns by their heading; a row or column that the look did not see was blank. Of an update that did
 * not arrive as a whole nothing is left: it counts as not written, and what it wrote over is kept nowhere. `before` and
 * `after` of the alignment are that look and a later one; `all`: everything that was sent.
 */
export function restores(
  astray: readonly SentRow[],
  alignment: Alignment,
  all: readonly SentRow[],
): SentRow[] {
  if (astray.length === 0) return [];
  // Of what did not arrive as a whole nothing is left: half of a removed row would be a new row.
  const arrived = all.filter((sent) => !sent.isNew && !astray.includes(sent));
  const meant = new Map(arrived.map(({ row, cells }) => [row, cells]));
  const landings = new Map<number, Set<number>>();
  const land = (sent: SentRow, cells: readonly [row: number, column: number][]): void => {
    for (const [row, column] of cells) {
      landings.set(row, (landings.get(row) ?? new Set()).add(column));
      if (sent.isNew) ownRows.add(row);
    }
  };
  const ownRows = new Set<number>();
  // What seems to have arrived may be something else of the same value.
  for (const sent of all) if (!sent.isNew) land(sent, landed(sent, alignment));
  for (const sent of astray)
    land(sent, sent.isNew ? landedNew(sent, alignment) : halfArrived(sent, alignment));
  return [...landings].flatMap(([row, columns]) => {
    const rowBefore = ownRows.has(row) ? null : alignment.rowBefore(row, columns);
    const cells = new Map<number, GridCell>();
    for (const column of columns) {
      const columnBefore = alignment.columnBefore(column);
      const isNew = rowBefore === null || columnBefore === null;
      const cell = isNew ? null : cellAt(alignment.before, rowBefore, columnBefore);
      const shown = cellAt(alignment.after, row, column);
      const wanted = isNew ? undefined : meant.get(rowBefore)?.get(columnBefore);
      const isWanted = wanted !== undefined && sameGridCell(wanted, shown);
      if (!isWanted && !sameGridCell(cell, shown)) cells.set(column, cell);
    }
    return cells.size === 0 ? [] : [{ row, isNew: false, cells }];
  });
}

/**
 * What did not arrive and is to be sent again, to where it belongs now. Only to cells that still show what they did:
 * anything else is somebody's edit.
 */
export function sentAgain(missed: readonly SentRow[], alignment: Alignment): SentRow[] {
  return missed.flatMap((sent) => {
    const row = meantRow(sent, alignment);
    if (row === null) return [];
    const cells = new Map<number, GridCell>();
    for (const [column, cell] of sent.cells) {
      const now = alignment.columnAfter(column);
      const old = cellAt(alignment.before, sent.row, column);
      if (now !== null && shows(alignment, row, now, old)) cells.set(now, cell);
    }
    return cells.size === 0 ? [] : [{ row, isNew: false, cells }];
  });
}

/** The cells, as they are now, in which what was sent to a row is found although it was not meant for them. */
function landed(sent: SentRow, alignment: Alignment): [row: number, column: number][] {
  const meant = meantRow(sent, alignment);
  return [...sent.cells].flatMap(([column, cell]): [number, number][] => {
    const now = alignment.columnAfter(column);
    const isMeant = meant === sent.row && now === column;
    if (!isMeant && shows(alignment, sent.row, column, cell)) return [[sent.row, column]];
    // Somebody moved rows once more. An empty cell cannot be searched for.
    if (cell === null || (meant !== null && now !== null && shows(alignment, meant, now, cell))) return [];
    const row = onlyRow(alignment, column, cell);
    return row === null ? [] : [[row, column]];
  });
}

/** The cells of an update that show what was meant for them. Of a row that got an id, it must stay: it has its lead. */
function halfArrived(sent: SentRow, alignment: Alignment): [row: number, column: number][] {
  const row = sent.cells.has(alignment.columns.id) ? null : meantRow(sent, alignment);
  if (row === null) return [];
  return [...sent.cells].flatMap(([column, cell]): [number, number][] => {
    const now = alignment.columnAfter(column);
    return now !== null && shows(alignment, row, now, cell) ? [[row, now]] : [];
  });
}

/**
 * A row of our own, inserted when the columns had been moved: all of it is taken out again. One whose cells are where
 * they belong was edited by somebody since, and stays.
 */
function landedNew(sent: SentRow, alignment: Alignment): [row: number, column: number][] {
  const { id } = alignment.columns;
  const leadId = sent.cells.get(id) ?? null;
  if (leadId === null) return [];
  const row = shows(alignment, sent.row, id, leadId) ? sent.row : onlyRow(alignment, id, leadId);
  if (row === null) return [];
  const found = [...sent.cells].filter(
    ([column, cell]) => cell !== null && shows(alignment, row, column, cell),
  );
  const isDisplaced = found.some(([column]) => alignment.columnAfter(column) !== column);
  return isDisplaced ? found.map(([column]): [number, number] => [row, column]) : [];
}

function shows(alignment: Alignment, row: number, column: number, cell: GridCell): boolean {
  return sameGridCell(cellAt(alignment.after, row, column), cell);
}

/** The one row that shows this in a column and did not before; null when there is none, or more than one. */
function onlyRow(alignment: Alignment, column: number, cell: GridCell): number | null {
  const columnBefore = alignment.columnBefore(column);
  const isNews = (row: number): boolean => {
    const rowBefore = alignment.rowBefore(row, new Set([column]));
    if (rowBefore === null || columnBefore === null) return true;
    return !sameGridCell(cellAt(alignment.before, rowBefore, columnBefore), cell);
  };
  const rows = [...alignment.after.keys()].filter(
    (row) => row > alignment.header && shows(alignment, row, column, cell) && isNews(row),
  );
  const [row = null, second] = rows;
  return second === undefined ? row : null;
}
