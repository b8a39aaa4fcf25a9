import type { Alignment, Linked } from './alignment.ts';
import { cellAt, type GridCell, sameGridCell } from './grid.ts';

/** What was sent to a row; columns as in the snapshot it was planned with. */
export interface SentRow {
  /** Index in that snapshot; for a new row, the insertion point. */
  readonly row: number;
  readonly isNew: boolean;
  readonly cells: ReadonlyMap<number, GridCell>;
  /** Not confirmed by a reply. */
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
 * Whether the meant row shows all that was sent. For a removed id: no row has it. A new row counts with its id: differences were
 * typed since, unless its cells are below other headings. `all`: everything sent.
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

/** The intended row, wherever it is and whatever its cells show; null: not found. */
export function meantRow(sent: SentRow, alignment: Alignment): number | null {
  const sentId = sent.cells.get(alignment.columns.id);
  const oldId = sent.isNew ? null : alignment.idBefore(sent.row);
  if (typeof sentId === 'string') {
    const row = alignment.rowAfter(sentId.trim());
    if (row !== null && (sent.isNew || isMeant(sent, row, alignment))) return row;
    // A restored id hit another row: its own still has the id that was to be replaced.
    return oldId === null ? null : alignment.rowNow(sent.row);
  }
  if (oldId !== null) return alignment.rowNow(sent.row);
  // Without any id: at its old place, or the first with its content.
  if (isMeant(sent, sent.row, alignment)) return sent.row;
  for (let row = alignment.header + 1; row < alignment.after.length; row++) {
    if (isMeant(sent, row, alignment)) return row;
  }
  return null;
}

/** The id is nowhere, and no other row was emptied instead. */
function isEmptied(sent: SentRow, alignment: Alignment, all: readonly SentRow[]): boolean {
  const { columns, idAfter, after } = alignment;
  if (sent.cells.get(columns.id) !== null || idAfter === null) return false;
  const oldId = alignment.idBefore(sent.row);
  if (oldId === null || alignment.rowAfter(oldId) !== null) return false;
  const own = [...sent.cells.keys()];
  if (!own.every((column) => cellAt(after, sent.row, column) === null)) return true;
  const emptied = alignment.rowBefore(sent.row, new Set(own));
  // The right row, but the wrong columns.
  if (emptied === sent.row && !own.every((column) => isBlankNow(sent.row, column, alignment))) return false;
  return emptied === null || all.some(({ row, cells }) => row === emptied && cells.get(columns.id) === null);
}

function isBlankNow(row: number, column: number, alignment: Alignment): boolean {
  const now = alignment.columnAfter(column);
  return now === null || cellAt(alignment.after, row, now) === null;
}

function isMeant(sent: SentRow, row: number, alignment: Alignment): boolean {
  return alignment.isSameRow(sent.row, row, (column) => sent.cells.has(column));
}
