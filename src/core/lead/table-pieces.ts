/**
 * Separates the rows of a table from what people write below it: a note, a sum, another table. Consecutive rows without
 * an empty one between them are one piece. A piece without any id, below one that has an id, is not part of the table.
 * Where rows had ids before (`hadIds`), the first piece is the table even if people cleared all ids.
 */
export class TablePieces {
  readonly #hadIds: boolean;
  #last = 0;
  #hasTable = false;
  #isOfTable = true;

  constructor(hadIds: boolean) {
    this.#hadIds = hadIds;
  }

  /** Whether this row (1-based, as displayed) begins a piece. Call before `see`. */
  begins(row: number): boolean {
    return row > this.#last + 1;
  }

  /** Whether the piece is known to belong to the table by now, including its earlier rows. */
  see(row: number, hasId: boolean): boolean {
    if (this.begins(row)) this.#isOfTable = !this.#hasTable;
    this.#last = row;
    this.#hasTable ||= hasId || this.#hadIds;
    this.#isOfTable ||= hasId;
    return this.#isOfTable;
  }
}
