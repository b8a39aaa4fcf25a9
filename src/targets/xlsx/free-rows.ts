import { mostRows } from './cell-reference.ts';
import type { SheetRow } from './rows.ts';

/** Where a new row goes: into an empty existing one (`place`), or as a new element before byte `at`. */
interface FreeRow {
  readonly row: number;
  readonly place: SheetRow | null;
  readonly at: number;
}

export class FreeRows {
  readonly #wanted: number;
  #last = 0;
  #rows: number[] = [];
  #starts: number[] = [];
  #empty = new Map<number, SheetRow>();

  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  get last(): number {
    return this.#last;
  }

  /** A row with data: free rows above it do not count. */
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

  /** The first ones below the data. `isBlocked`: whether an empty row may not be used; `end`: byte at which rows end. */
  *take(isBlocked: (row: number) => boolean, end: number): Generator<FreeRow> {
    let next = 0;
    for (let row = this.#last + 1; row <= mostRows; row++) {
      while (next < this.#rows.length && (this.#rows[next] ?? 0) < row) next++;
      const known = this.#rows[next] === row;
      const place = this.#empty.get(row) ?? null;
      if ((known && place === null) || isBlocked(row)) continue;
      yield { row, place, at: this.#starts[next] ?? end };
    }
  }
}
