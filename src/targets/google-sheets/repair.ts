import type { Alignment, Linked } from './alignment.ts';
import { cellAt, type GridCell, isFormula, keyOf, sameGridCell } from './grid.ts';

/** Cells of a row (later snapshot) to restore. */
export interface PutBack extends SentRow {
  readonly because: readonly SentRow[];
}

type Place = [row: number, column: number];
type Cells = ReadonlyMap<number, GridCell>;

/**
 * Restores cells that a write hit because rows or columns moved between snapshot and write (`astray`). Rows are matched by
 * id, else by the content of their other cells; columns by heading; rows and columns missing in the snapshot were blank. A
 * new row below moved columns is corrected: removing it would also remove the id of what somebody typed there since. An
 * incomplete update is undone entirely: it counts as not written, and what it overwrote is recorded nowhere. Where nothing
 * moved nothing is restored: differences are people's edits. `before` and `after` of the alignment: that snapshot and a
 * later one; `all`: everything sent.
 */
export function cellsToPutBack(
  astray: readonly SentRow[],
  alignment: Alignment,
  all: readonly SentRow[],
): PutBack[] {
  if (astray.length === 0) return [];
  // Incomplete writes are undone: half of a removed row would look like a new row.
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

/** Repeats, at their present place, restorations that missed. Only in cells that are unchanged: anything else is an edit. */
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

/** Cells (now) that wrongly show what was sent. */
function hitCells(
  sent: SentRow,
  isAstray: boolean,
  alignment: Alignment,
  search: StraySearch,
): readonly Place[] {
  if (sent.isNew) return isAstray ? strayNewRow(sent, alignment, search) : [];
  if (!isDisplaced(sent, alignment)) return [];
  // What seems to have arrived may be another equal value.
  const stray = strayCells(sent, alignment, search);
  return isAstray ? [...stray, ...halfArrived(sent, alignment)] : stray;
}

/** Whether people moved its row or a column: another content is in its place. Only then can a write have landed elsewhere. */
function isDisplaced(sent: SentRow, alignment: Alignment): boolean {
  const columns = new Set(sent.cells.keys());
  if ([...columns].some((column) => isMovedColumn(column, alignment))) return true;
  const row = meantRow(sent, alignment);
  if (row !== null) return row !== sent.row;
  const rowBefore = alignment.rowBefore(sent.row, columns);
  if (rowBefore !== null) return rowBefore !== sent.row;
  return !isStillThere(sent, alignment);
}

/** Whether a row whose id is nowhere is still in place: only its id was overwritten or removed. */
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

/** Cells (now) that contain what was sent elsewhere. */
function strayCells(sent: SentRow, alignment: Alignment, search: StraySearch): Place[] {
  const meant = meantRow(sent, alignment);
  return [...sent.cells].flatMap(([column, cell]): Place[] => {
    const now = alignment.columnAfter(column);
    const isMeant = meant === sent.row && now === column;
    if (!isMeant && shows(alignment, sent.row, column, cell))
      return alignment.showedBefore(sent.row, column) ? [] : [[sent.row, column]];
    // Rows moved again. Empty cells cannot be searched for, nor writes that may not have happened.
    if (cell === null || sent.isDoubtful === true) return [];
    if (meant !== null && now !== null && shows(alignment, meant, now, cell)) return [];
    const row = search.onlyRow(column, cell);
    return row === null ? [] : [[row, column]];
  });
}

/** Cells of an update that did arrive. A row that got an id keeps it: it has its lead. */
function halfArrived(sent: SentRow, alignment: Alignment): Place[] {
  if (sent.isDoubtful === true || sent.cells.has(alignment.columns.id)) return [];
  const row = meantRow(sent, alignment);
  if (row === null) return [];
  return [...sent.cells].flatMap(([column, cell]): Place[] => {
    const now = alignment.columnAfter(column);
    return now !== null && shows(alignment, row, now, cell) ? [[row, now]] : [];
  });
}

/** Cells of our new row, inserted while columns had moved; without those that somebody typed into. */
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
  return sameGridCell(asText(cellAt(alignment.after, row, column)), asText(cell));
}

/** In a column that is not ours nobody asked whether what begins with `=` is a formula: it may be a text that went astray. */
function asText(cell: GridCell): GridCell {
  return isFormula(cell) && cell.shows === null ? cell.formula : cell;
}

/** Finds cells of the later snapshot with new content. Indexes each column at most once. */
class StraySearch {
  readonly #alignment: Alignment;
  /** By column and content: the row; null: several. */
  readonly #news = new Map<number, ReadonlyMap<string, number | null>>();

  constructor(alignment: Alignment) {
    this.#alignment = alignment;
  }

  /** The only row with new content like this in a column; null: none, or several. */
  onlyRow(column: number, cell: GridCell): number | null {
    const known = this.#news.get(column);
    const news = known ?? this.#newsOf(column);
    if (known === undefined) this.#news.set(column, news);
    return news.get(keyOf(asText(cell))) ?? null;
  }

  #newsOf(column: number): ReadonlyMap<string, number | null> {
    const { after, header } = this.#alignment;
    const news = new Map<string, number | null>();
    for (let row = header + 1; row < after.length; row++) {
      const cell = cellAt(after, row, column);
      if (cell === null || this.#alignment.showedBefore(row, column)) continue;
      const key = keyOf(asText(cell));
      news.set(key, news.has(key) ? null : row);
    }
    return news;
  }
}

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
    if (now !== null && shows(alignment, row, now, cell)) return true;
    return sent.isNew && (now === column || !shows(alignment, row, column, cell));
  });
}

/** The intended row, wherever it is and whatever its cells show; null: not found. */
function meantRow(sent: SentRow, alignment: Alignment): number | null {
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
