import type { Alignment, Linked } from './alignment.ts';
import { cellAt, type GridCell, sameGridCell } from './grid.ts';

/** What was sent to one row: columns as they stood in the look that it was decided by. */
export interface SentRow {
  /** Index in that look; of a new row: where it was inserted. */
  readonly row: number;
  readonly isNew: boolean;
  /** What each cell was to hold; null: nothing. */
  readonly cells: ReadonlyMap<number, GridCell>;
  /** No reply has told that it was carried out. */
  readonly isDoubtful?: boolean;
}

/** The ids that were sent to rows, by row. */
export function linkedIds(sent: readonly SentRow[], idColumn: number): ReadonlyMap<number, Linked> {
  return new Map(
    sent.flatMap(({ row, isNew, cells }): [number, Linked][] => {
      const id = cells.get(idColumn);
      return isNew || typeof id !== 'string' ? [] : [[row, { id: id.trim(), cells }]];
    }),
  );
}

/**
 * Whether the row that was meant shows all that was sent to it. If not, somebody moved rows or columns at that moment
 * or wrote over it, or it was never carried out. A row whose id was taken out: no row has that id any more. A new row is
 * there with its id: what differs in it people have typed since, unless its cells came below the headings of others.
 * `all`: everything that was sent.
 */
export function hasArrived(sent: SentRow, alignment: Alignment, all: readonly SentRow[]): boolean {
  if (isEmptied(sent, alignment, all)) return true;
  const row = meantRow(sent, alignment);
  if (row === null) return false;
  return [...sent.cells].every(([column, cell]) => {
    const now = alignment.columnAfter(column);
    if (now !== null && sameGridCell(cellAt(alignment.after, row, now), cell)) return true;
    return sent.isNew && (now === column || !sameGridCell(cellAt(alignment.after, row, column), cell));
  });
}

/** The row that was meant, wherever it is now and whatever became of the cells that were sent; null: not found. */
export function meantRow(sent: SentRow, alignment: Alignment): number | null {
  const sentId = sent.cells.get(alignment.columns.id);
  const oldId = sent.isNew ? null : alignment.idBefore(sent.row);
  if (typeof sentId === 'string') {
    const row = alignment.rowAfter(sentId.trim());
    if (row !== null && (sent.isNew || isMeant(sent, row, alignment))) return row;
    // An id that was to come back has hit another row: its own still has the one that was to go.
    return oldId === null ? null : alignment.rowNow(sent.row);
  }
  if (oldId !== null) return alignment.rowNow(sent.row);
  // Neither had nor got an id: where it was, or the first with its content.
  if (isMeant(sent, sent.row, alignment)) return sent.row;
  for (let row = alignment.header + 1; row < alignment.after.length; row++) {
    if (isMeant(sent, row, alignment)) return row;
  }
  return null;
}

/** The id is nowhere, and it was not another row that was emptied in its place. */
function isEmptied(sent: SentRow, alignment: Alignment, all: readonly SentRow[]): boolean {
  const { columns, idAfter, after } = alignment;
  if (sent.cells.get(columns.id) !== null || idAfter === null) return false;
  const oldId = alignment.idBefore(sent.row);
  if (oldId === null || alignment.rowAfter(oldId) !== null) return false;
  const own = [...sent.cells.keys()];
  if (!own.every((column) => cellAt(after, sent.row, column) === null)) return true;
  const emptied = alignment.rowBefore(sent.row, new Set(own));
  // Its own row, but other columns of it.
  if (emptied === sent.row && !own.every((column) => isBlankNow(sent.row, column, alignment))) return false;
  return emptied === null || all.some(({ row, cells }) => row === emptied && cells.get(columns.id) === null);
}

function isBlankNow(row: number, column: number, alignment: Alignment): boolean {
  const now = alignment.columnAfter(column);
  return now === null || cellAt(alignment.after, row, now) === null;
}

/** Whether it is the row that was meant, by what stands beside what was sent. */
function isMeant(sent: SentRow, row: number, alignment: Alignment): boolean {
  return alignment.isSameRow(sent.row, row, (column) => sent.cells.has(column));
}
