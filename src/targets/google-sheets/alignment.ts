import {
  cellAt,
  type Grid,
  type GridCell,
  isFormula,
  keyOf,
  maybeSameGridCell,
  sameGridCell,
} from './grid.ts';
import { idText } from './cell-values.ts';

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
function inverted(places: readonly (number | null)[], width: number): (number | null)[] {
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

function widthOf(grid: Grid): number {
  let width = 0;
  for (const row of grid) width = Math.max(width, row.length);
  return width;
}

export interface OwnColumns {
  readonly id: number;
  readonly owned: ReadonlySet<number>;
}

/** An id that was sent to a row of the first snapshot, with all that was sent. */
export interface Linked {
  readonly id: string;
  readonly cells: ReadonlyMap<number, GridCell>;
}

/** Maps rows and columns of one snapshot to a later one: people move them at any moment. */
export class Alignment {
  readonly before: Grid;
  readonly after: Grid;
  readonly columns: OwnColumns;
  /** Header row and id column in the later snapshot (null: gone). */
  readonly header: number;
  readonly idAfter: number | null;
  readonly #columnsAfter: readonly (number | null)[];
  readonly #columnsBefore: readonly (number | null)[];
  readonly #rowsBefore: ReadonlyMap<string, readonly number[]>;
  readonly #rowsAfter: ReadonlyMap<string, readonly number[]>;
  readonly #linked: ReadonlyMap<number, Linked>;
  #lost: readonly number[] | null = null;
  #contents: Record<'before' | 'after', ReadonlyMap<string, number>> | null = null;
  readonly #lostByContent = new Map<string, ReadonlyMap<string, readonly number[]>>();
  readonly #values = new Map<number, ReadonlySet<string>>();

  /** `linked`: ids that were sent to rows of the first snapshot. */
  constructor(
    before: Grid,
    after: Grid,
    columns: OwnColumns,
    linked: ReadonlyMap<number, Linked> = new Map(),
  ) {
    this.#linked = linked;
    this.before = before;
    this.after = after;
    this.columns = columns;
    this.header = headingRow(before, after);
    this.#columnsAfter = alignColumns(before, after, this.header);
    this.#columnsBefore = inverted(this.#columnsAfter, widthOf(after));
    this.idAfter = this.columnAfter(columns.id);
    this.#rowsBefore = rowsById(before, columns.id, 0);
    this.#rowsAfter = this.idAfter === null ? new Map() : rowsById(after, this.idAfter, this.header);
  }

  columnAfter(column: number): number | null {
    return this.#columnsAfter[column] ?? null;
  }

  columnBefore(column: number): number | null {
    return this.#columnsBefore[column] ?? null;
  }

  /** Whether our columns show the same. A cell may show what no row showed before: somebody has typed there since. */
  isSameRow(rowBefore: number, rowAfter: number, isIgnored: (column: number) => boolean): boolean {
    const found = this.#compared(rowBefore, rowAfter, isIgnored);
    return found !== null && found.emptied === 0 && (found.typed === 0 || found.known > 0);
  }

  /** As `isSameRow`, also when people emptied less than half of the cells. */
  #isLikelyRow(rowBefore: number, rowAfter: number, isIgnored: (column: number) => boolean): boolean {
    const found = this.#compared(rowBefore, rowAfter, isIgnored);
    return found !== null && found.known > found.typed + found.emptied;
  }

  /** How many cells are unchanged, new, or emptied; null: one shows another row's content. */
  #compared(rowBefore: number, rowAfter: number, isIgnored: (column: number) => boolean) {
    let [known, typed, emptied] = [0, 0, 0];
    for (const column of this.columns.owned) {
      const now = this.columnAfter(column);
      if (now === null || isIgnored(column)) continue;
      const cell = cellAt(this.after, rowAfter, now);
      if (maybeSameGridCell(cellAt(this.before, rowBefore, column), cell)) known += cell === null ? 0 : 1;
      else if (cell === null) emptied++;
      else if (this.#showedBefore(column, cell)) return null;
      else typed++;
    }
    return { known, typed, emptied };
  }

  #showedBefore(column: number, cell: GridCell): boolean {
    const known = this.#values.get(column);
    const values = known ?? new Set(this.before.map((_, row) => keyOf(cellAt(this.before, row, column))));
    if (known === undefined) this.#values.set(column, values);
    return values.has(keyOf(cell));
  }

  idBefore(row: number): string | null {
    return idAt(this.before, row, this.columns.id);
  }

  rowAfter(id: string): number | null {
    return this.#rowsAfter.get(id)?.[0] ?? null;
  }

  /** A row of the first snapshot, now; of several with one id the one in the same order. Null: gone. */
  rowNow(row: number): number | null {
    const id = this.idBefore(row) ?? '';
    const [before, after] = [this.#rowsBefore.get(id) ?? [], this.#rowsAfter.get(id) ?? []];
    const nth = before.indexOf(row);
    return nth === 0 || before.length === after.length ? (after[nth] ?? null) : null;
  }

  /** By id, else by content; `foreign`: later columns that something else was written into since. Null: new, or ambiguous. */
  rowBefore(row: number, foreign: ReadonlySet<number>): number | null {
    if (row === this.header) return 0;
    const id =
      this.idAfter === null || foreign.has(this.idAfter) ? null : idAt(this.after, row, this.idAfter);
    const same = id === null ? [] : (this.#rowsBefore.get(id) ?? []);
    if (id !== null && same.length < 2) return same[0] ?? this.#linkedRow(id, row, foreign);
    const alikeIn = (counts: (column: number) => boolean): readonly number[] =>
      id === null
        ? this.#lostLike(row, foreign, counts)
        : same.filter((each) => this.#isAlike(each, row, foreign, counts));
    const alike = alikeIn(() => true);
    if (alike.length > 0) return this.#betweenSameNeighbours(alike, row);
    // Array formulas change a user's own columns by themselves.
    const isOwned = (column: number): boolean => this.columns.owned.has(column);
    const isKnown = [...this.columns.owned].some((column) => {
      const now = this.columnAfter(column);
      return now !== null && !foreign.has(now) && cellAt(this.after, row, now) !== null;
    });
    const like = isKnown ? alikeIn(isOwned) : [];
    if (like.length > 0 || !isKnown) return this.#betweenSameNeighbours(like, row);
    const isForeign = (column: number): boolean => foreign.has(this.columnAfter(column) ?? -1);
    const candidates = id === null ? this.#rowsWithoutPlace() : same;
    const edited = candidates.filter((each) => this.isSameRow(each, row, isForeign));
    const found =
      edited.length > 0 ? edited : candidates.filter((each) => this.#isLikelyRow(each, row, isForeign));
    return found.length === 1 ? (found[0] ?? null) : null;
  }

  /** The row of the first snapshot whose sent id has arrived in this row; null: none, or not here. */
  #linkedRow(id: string, row: number, foreign: ReadonlySet<number>): number | null {
    const linked = [...this.#linked].find(
      ([rowBefore, sent]) => sent.id === id && this.idBefore(rowBefore) === null,
    );
    if (linked === undefined) return null;
    const [rowBefore, { cells }] = linked;
    const isIgnored = (column: number): boolean =>
      this.#showsSent(cells, row, column) || foreign.has(this.columnAfter(column) ?? -1);
    const isIt = this.isSameRow(rowBefore, row, isIgnored) || this.#isLikelyRow(rowBefore, row, isIgnored);
    return isIt ? rowBefore : null;
  }

  #showsSent(cells: ReadonlyMap<number, GridCell>, row: number, column: number): boolean {
    const [sent, now] = [cells.get(column), this.columnAfter(column)];
    return sent !== undefined && now !== null && sameGridCell(cellAt(this.after, row, now), sent);
  }

  /** Whether a later cell is unchanged: its row is known to have shown that, or shows all that one did. */
  showedBefore(row: number, column: number): boolean {
    const columnBefore = this.columnBefore(column);
    if (columnBefore === null) return false;
    const rowBefore = this.rowBefore(row, new Set([column]));
    const cell = cellAt(this.after, row, column);
    if (rowBefore !== null) return sameGridCell(cellAt(this.before, rowBefore, columnBefore), cell);
    return this.#isWhole(row);
  }

  /** Whether as many rows of the first snapshot as now show all that a row shows now. */
  #isWhole(row: number): boolean {
    const content = this.#contentAfter(row);
    this.#contents ??= {
      before: counted(this.before.keys(), (each) => this.#contentBefore(each)),
      after: counted(this.after.keys(), (each) => this.#contentAfter(each)),
    };
    return (this.#contents.before.get(content) ?? 0) >= (this.#contents.after.get(content) ?? 0);
  }

  /** Rows of the first snapshot that are nowhere now, neither by id nor, without one, by content. */
  #rowsWithoutPlace(): readonly number[] {
    if (this.#lost !== null) return this.#lost;
    const rows = [...this.after.keys()].slice(this.header + 1);
    const shown = counted(rows, (row) => this.#contentAfter(row));
    const lost: number[] = [];
    for (let row = 1; row < this.before.length; row++) {
      const id = this.idBefore(row);
      if ((id !== null && this.#hasAllRowsOf(id)) || this.#isLinked(row)) continue;
      const content = this.#contentBefore(row);
      const count = shown.get(content) ?? 0;
      shown.set(content, count - 1);
      if (count < 1) lost.push(row);
    }
    this.#lost = lost;
    return lost;
  }

  /** Those of them that match a row now, apart from some columns. */
  #lostLike(
    row: number,
    foreign: ReadonlySet<number>,
    counts: (column: number) => boolean,
  ): readonly number[] {
    const columns = [...this.#columnsAfter.keys()].flatMap((column): [before: number, now: number][] => {
      const now = this.columnAfter(column);
      return now === null || foreign.has(now) || !counts(column) ? [] : [[column, now]];
    });
    const content = (cell: (before: number, now: number) => GridCell): string =>
      JSON.stringify(
        columns.map((each) => cell(...each)).map((each) => (isFormula(each) ? '=' : keyOf(each))),
      );
    const which = columns.join(' ');
    let known = this.#lostByContent.get(which);
    if (known === undefined) {
      known = Map.groupBy(this.#rowsWithoutPlace(), (each) =>
        content((column) => cellAt(this.before, each, column)),
      );
      this.#lostByContent.set(which, known);
    }
    return known.get(content((_, now) => cellAt(this.after, row, now))) ?? [];
  }

  /** People copy rows with their id: one of the copies may have lost it. */
  #hasAllRowsOf(id: string): boolean {
    return (this.#rowsAfter.get(id)?.length ?? 0) >= (this.#rowsBefore.get(id)?.length ?? 0);
  }

  #isLinked(row: number): boolean {
    const { id = '', cells = new Map<number, GridCell>() } = this.#linked.get(row) ?? {};
    const now = this.rowAfter(id);
    if (now === null || this.idAfter === null) return false;
    const counts = (column: number): boolean =>
      this.columns.owned.has(column) && !this.#showsSent(cells, now, column);
    return this.#isAlike(row, now, new Set([this.idAfter]), counts);
  }

  #contentBefore(row: number): string {
    return this.#contentOf((column) =>
      this.columnAfter(column) === null ? null : cellAt(this.before, row, column),
    );
  }

  #contentAfter(row: number): string {
    return this.#contentOf((column) => {
      const now = this.columnAfter(column);
      return now === null ? null : cellAt(this.after, row, now);
    });
  }

  #contentOf(cell: (column: number) => GridCell): string {
    const cells = this.#columnsAfter.map((_, column) => cell(column));
    return JSON.stringify(cells.map((each) => (isFormula(each) ? '=' : [each])));
  }

  #betweenSameNeighbours(alike: readonly number[], row: number): number | null {
    const above = this.#rowBeforeById(row - 1);
    const below = this.#rowBeforeById(row + 1);
    const neighbour = alike.find((each) => each - 1 === above || each + 1 === below);
    return neighbour ?? (alike.includes(row) ? row : (alike[0] ?? null));
  }

  #isAlike(
    rowBefore: number,
    rowAfter: number,
    foreign: ReadonlySet<number>,
    counts: (column: number) => boolean,
  ): boolean {
    return this.#columnsAfter.every((now, column) => {
      if (now === null || foreign.has(now) || !counts(column)) return true;
      return maybeSameGridCell(cellAt(this.before, rowBefore, column), cellAt(this.after, rowAfter, now));
    });
  }

  #rowBeforeById(row: number): number | null {
    if (row === this.header) return 0;
    const id = this.idAfter === null ? null : idAt(this.after, row, this.idAfter);
    return id === null ? null : (this.#rowsBefore.get(id)?.[0] ?? null);
  }
}

function idAt(grid: Grid, row: number, column: number): string | null {
  // A formula may show another row's id in the next snapshot.
  const id = isFormula(cellAt(grid, row, column)) ? '' : idText(grid, row, column);
  return id === '' ? null : id;
}

function rowsById(grid: Grid, column: number, header: number): Map<string, readonly number[]> {
  const rows = new Map<string, number[]>();
  for (let row = header + 1; row < grid.length; row++) {
    const id = idAt(grid, row, column);
    if (id === null) continue;
    const known = rows.get(id);
    if (known === undefined) rows.set(id, [row]);
    else known.push(row);
  }
  return rows;
}

function counted(rows: Iterable<number>, content: (row: number) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) {
    const key = content(row);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}
