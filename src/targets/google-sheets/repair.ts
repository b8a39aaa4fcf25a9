import type { Alignment } from './alignment.ts';
import { cellAt, type GridCell, sameGridCell } from './grid.ts';
import { StraySearch } from './stray-search.ts';
import { meantRow, type SentRow } from './verify.ts';

/** Cells of one row, as they are in the later look, that are to show again what they did. */
export interface PutBack extends SentRow {
  /** What was sent and has hit them. */
  readonly because: readonly SentRow[];
}

type Place = [row: number, column: number];
type Cells = ReadonlyMap<number, GridCell>;

/**
 * Rows and columns were moved between a look and a write, so that what was sent (`astray`) landed in other cells than
 * were meant. Gives back to each of them what the look saw there: rows are known by their id, else by the content of
 * their other cells, columns by their heading; a row or column that the look did not see was blank. A new row that came
 * below moved columns is set right: taken out, it would take along the id of what somebody has typed there since. Of an
 * update that did not arrive as a whole nothing is left: it counts as not written, and what it wrote over is kept nowhere. Where nothing
 * was moved nothing is put back: what differs there, people have typed. `before` and `after` of the alignment are that
 * look and a later one; `all`: everything that was sent.
 */
export function cellsToPutBack(
  astray: readonly SentRow[],
  alignment: Alignment,
  all: readonly SentRow[],
): PutBack[] {
  if (astray.length === 0) return [];
  // Of what did not arrive as a whole nothing is left: half of a removed row would be a new row.
  const isAstray = new Set(astray);
  const arrived = all.filter((sent) => !sent.isNew && !isAstray.has(sent));
  const meant = new Map(arrived.map(({ row, cells }) => [row, cells]));
  const hits = new Map<number, { columns: Set<number>; because: Set<SentRow>; own: Cells | null }>();
  const search = new StraySearch(alignment);
  for (const sent of all) {
    for (const [row, column] of hitCells(sent, isAstray.has(sent), alignment, search)) {
      const hit = hits.get(row) ?? { columns: new Set(), because: new Set(), own: null };
      hit.columns.add(column);
      hit.because.add(sent);
      hits.set(row, sent.isNew ? { ...hit, own: belonging(sent, alignment) } : hit);
    }
  }
  return [...hits].flatMap(([row, { columns, because, own }]) => {
    const rowBefore = own !== null ? null : alignment.rowBefore(row, columns);
    const cells = new Map<number, GridCell>();
    for (const column of columns) {
      const columnBefore = alignment.columnBefore(column);
      const isNew = rowBefore === null || columnBefore === null;
      const cell = isNew ? (own?.get(column) ?? null) : cellAt(alignment.before, rowBefore, columnBefore);
      const shown = cellAt(alignment.after, row, column);
      const wanted = isNew ? undefined : meant.get(rowBefore)?.get(columnBefore);
      const isWanted = wanted !== undefined && sameGridCell(wanted, shown);
      if (!isWanted && !sameGridCell(cell, shown)) cells.set(column, cell);
    }
    return cells.size === 0 ? [] : [{ row, isNew: false, cells, because: [...because] }];
  });
}

/**
 * What was put back and did not arrive, because rows or columns were moved once more: to where it belongs now. Only to
 * cells that still show what they did: anything else is somebody's edit.
 */
export function putBackAgain(missed: readonly SentRow[], alignment: Alignment): PutBack[] {
  return missed.flatMap((sent) => {
    const row = meantRow(sent, alignment);
    if (row === null || !isDisplaced(sent, alignment)) return [];
    const cells = new Map<number, GridCell>();
    for (const [column, cell] of sent.cells) {
      const now = alignment.columnAfter(column);
      const old = cellAt(alignment.before, sent.row, column);
      if (now !== null && shows(alignment, row, now, old)) cells.set(now, cell);
    }
    return cells.size === 0 ? [] : [{ row, isNew: false, cells, because: [sent] }];
  });
}

/** The cells, as they are now, that show what was sent and must not. */
function hitCells(
  sent: SentRow,
  isAstray: boolean,
  alignment: Alignment,
  search: StraySearch,
): readonly Place[] {
  if (sent.isNew) return isAstray ? strayNewRow(sent, alignment, search) : [];
  if (!isDisplaced(sent, alignment)) return [];
  // What seems to have arrived may be something else of the same value.
  const stray = strayCells(sent, alignment, search);
  return isAstray ? [...stray, ...halfArrived(sent, alignment)] : stray;
}

/**
 * Whether people moved a row or a column of it between the two looks: where it was, something else stands now. Only
 * then can what was sent have landed elsewhere.
 */
function isDisplaced(sent: SentRow, alignment: Alignment): boolean {
  const columns = new Set(sent.cells.keys());
  if ([...columns].some((column) => isMovedColumn(column, alignment))) return true;
  const row = meantRow(sent, alignment);
  if (row !== null) return row !== sent.row;
  const rowBefore = alignment.rowBefore(sent.row, columns);
  if (rowBefore !== null) return rowBefore !== sent.row;
  return !isStillThere(sent, alignment);
}

/** Whether the place of a row whose id is nowhere still shows that row: only its id was typed over or taken out. */
function isStillThere({ row, cells }: SentRow, alignment: Alignment): boolean {
  const { id } = alignment.columns;
  const isIgnored = (column: number): boolean => column === id || cells.has(column);
  if (!alignment.isSameRow(row, row, isIgnored)) return false;
  const others = (alignment.before[row] ?? []).flatMap((_, column) => {
    const [cell, now] = [cellAt(alignment.before, row, column), alignment.columnAfter(column)];
    return cell === null || now === null || isIgnored(column) ? [] : [shows(alignment, row, now, cell)];
  });
  if (others.includes(true)) return true;
  const hasId = alignment.idAfter !== null && cellAt(alignment.after, row, alignment.idAfter) !== null;
  return hasId && others.length === 0;
}

function isMovedColumn(column: number, alignment: Alignment): boolean {
  const now = alignment.columnAfter(column);
  return now === null ? alignment.columnBefore(column) !== null : now !== column;
}

/** The cells, as they are now, in which what was sent to a row is found although it was not meant for them. */
function strayCells(sent: SentRow, alignment: Alignment, search: StraySearch): Place[] {
  const meant = meantRow(sent, alignment);
  return [...sent.cells].flatMap(([column, cell]): Place[] => {
    const now = alignment.columnAfter(column);
    const isMeant = meant === sent.row && now === column;
    if (!isMeant && shows(alignment, sent.row, column, cell))
      return alignment.showedBefore(sent.row, column) ? [] : [[sent.row, column]];
    // Somebody moved rows once more. An empty cell cannot be searched for, nor what was perhaps never carried out.
    if (cell === null || sent.isDoubtful === true) return [];
    if (meant !== null && now !== null && shows(alignment, meant, now, cell)) return [];
    const row = search.onlyRow(column, cell);
    return row === null ? [] : [[row, column]];
  });
}

/** The cells of an update that show what was meant for them. Of a row that got an id, it must stay: it has its lead. */
function halfArrived(sent: SentRow, alignment: Alignment): Place[] {
  if (sent.isDoubtful === true || sent.cells.has(alignment.columns.id)) return [];
  const row = meantRow(sent, alignment);
  if (row === null) return [];
  return [...sent.cells].flatMap(([column, cell]): Place[] => {
    const now = alignment.columnAfter(column);
    return now !== null && shows(alignment, row, now, cell) ? [[row, now]] : [];
  });
}

/** The cells of a row of our own that was inserted when the columns had been moved; not those that somebody has typed into. */
function strayNewRow(sent: SentRow, alignment: Alignment, search: StraySearch): Place[] {
  const { id } = alignment.columns;
  const leadId = sent.cells.get(id) ?? null;
  if (leadId === null) return [];
  const row = shows(alignment, sent.row, id, leadId) ? sent.row : search.onlyRow(id, leadId);
  if (row === null) return [];
  const isOurs = (column: number): boolean => shows(alignment, row, column, sent.cells.get(column) ?? null);
  const found = [...sent.cells].flatMap(([column, cell]) =>
    cell !== null && isOurs(column) ? [column] : [],
  );
  if (!found.some((column) => isMovedColumn(column, alignment))) return [];
  const free = [...belonging(sent, alignment).keys()].filter(isOurs);
  return [...new Set([...found, ...free])].map((column): Place => [row, column]);
}

/** The cells of a new row by the columns, as they are now, in which they belong; none where its id has no column. */
function belonging({ cells }: SentRow, alignment: Alignment): Cells {
  if (alignment.idAfter === null) return new Map();
  return new Map(
    [...cells].flatMap(([column, cell]): [number, GridCell][] => {
      const now = alignment.columnAfter(column);
      return now === null ? [] : [[now, cell]];
    }),
  );
}

function shows(alignment: Alignment, row: number, column: number, cell: GridCell): boolean {
  return sameGridCell(cellAt(alignment.after, row, column), cell);
}
