import type { Alignment } from './alignment.ts';
import { cellAt, type GridCell, keyOf } from './grid.ts';

/** Finds cells of the later snapshot with new content. Indexes each column at most once. */
export class StraySearch {
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
    return news.get(keyOf(cell)) ?? null;
  }

  #newsOf(column: number): ReadonlyMap<string, number | null> {
    const { after, header } = this.#alignment;
    const news = new Map<string, number | null>();
    for (let row = header + 1; row < after.length; row++) {
      const cell = cellAt(after, row, column);
      if (cell === null || this.#alignment.showedBefore(row, column)) continue;
      const key = keyOf(cell);
      news.set(key, news.has(key) ? null : row);
    }
    return news;
  }
}
