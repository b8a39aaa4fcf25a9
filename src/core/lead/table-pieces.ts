/**
 * Tells the rows of a table from what people write below it: a note, a sum, another table. Rows that follow each other
 * without an empty one between are one piece; a piece without any id, below one that has one, is apart from the table. Where
 * rows have had ids before (`hadIds`), the first piece is the table also when people have cleared them all.
 */
export class TablePieces {
  readonly #hadIds: boolean;
  #last = 0;
  #hasTable = false;
  #isOfTable = true;

  constructor(hadIds: boolean) {
    this.#hadIds = hadIds;
  }

  /** Whether the row, which has the number that people see, begins a piece. Asked before `see`. */
  begins(row: number): boolean {
    return row > this.#last + 1;
  }

  /** Whether the piece is known to be of the table by now; what came before in it is then, too. */
  see(row: number, hasId: boolean): boolean {
    if (this.begins(row)) this.#isOfTable = !this.#hasTable;
    this.#last = row;
    this.#hasTable ||= hasId || this.#hadIds;
    this.#isOfTable ||= hasId;
    return this.#isOfTable;
  }
}
