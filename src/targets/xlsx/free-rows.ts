import { mostRows } from './cell-reference.ts';
import type { SheetRow } from './rows.ts';

/** Where a new row goes: into one that is there but empty, or as a new element before the byte `at`. */
export type FreeRow = { readonly row: number } & (
  | { readonly place: SheetRow }
  | { readonly place: null; readonly at: number }
);

/** Keeps what is known of the rows below the last one with data, of the empty ones no more than are needed. */
export class FreeRows {
  readonly #wanted: number;
  #last = 0;
  #rows: number[] = [];
  #starts: number[] = [];
  #empty = new Map<number, SheetRow>();

  /** @param wanted how many will be asked for at most */
  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  /** A row with data: only what is below it counts. */
  restart(row: number): void {
    this.#last = row;
    if (this.#rows.length === 0) return;
    this.#rows = [];
    this.#starts = [];
    this.#empty = new Map();
  }

  see(row: SheetRow, empty: boolean): void {
    this.#rows.push(row.row);
    this.#starts.push(row.start);
    if (empty && this.#empty.size < this.#wanted) this.#empty.set(row.row, row);
  }

  /**
   * The first rows below the data that nobody uses.
   * @param isBlocked whether a row may not be used though its cells are empty
   * @param end the byte at which rows end
   */
  *take(isBlocked: (row: number) => boolean, end: number): Generator<FreeRow> {
    let next = 0;
    for (let row = this.#last + 1; row <= mostRows; row++) {
      while (next < this.#rows.length && (this.#rows[next] ?? 0) < row) next++;
      const known = this.#rows[next] === row;
      const place = this.#empty.get(row) ?? null;
      if ((known && place === null) || isBlocked(row)) continue;
      if (place === null) yield { row, place, at: this.#starts[next] ?? end };
      else yield { row, place };
    }
  }
}
