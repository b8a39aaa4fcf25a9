import type { Cells } from './value.ts';

/**
 * What a table itself says of a row: within its range (of a filter, of a formatted table), below that, or no row of it (sums
 * of the rows above, a comment). Absent: only ids and empty rows tell.
 */
export type RowStanding = 'within' | 'below' | 'note';

/** The row into which a person merged another. */
export interface MergedPlace {
  readonly row: number;
  /** Which one that is, and what to do, as sentences. */
  readonly message: string;
}

/**
 * Separates the rows of a table from what people write below it: a note, a sum, another table. Consecutive rows without
 * an empty one between them are one piece; what is below the range is another one. The first piece is the table, and so
 * is each piece in which a row has an id.
 */
export class TablePieces {
  #last = 0;
  #isBelow = false;
  #hasTable = false;
  #isOfTable = true;

  /** Whether this row (1-based, as displayed) begins a piece. Call before `see`. */
  begins(row: number, standing?: RowStanding): boolean {
    return row > this.#last + 1 || (standing === 'below') !== this.#isBelow;
  }

  /** Whether the piece is known to belong to the table by now, including its earlier rows. */
  see(row: number, hasId: boolean, standing?: RowStanding): boolean {
    if (standing === 'note') return false;
    if (this.begins(row, standing)) this.#isOfTable = standing !== 'below' && !this.#hasTable;
    [this.#last, this.#isBelow] = [row, standing === 'below'];
    this.#isOfTable ||= hasId || standing === 'within';
    this.#hasTable ||= this.#isOfTable;
    return this.#isOfTable;
  }
}

/** Whether a text may be meant as an id: one word, of letters or digits, and not of letters alone. */
export function isLikeId(text: string): boolean {
  return /^(?=.*[\d_-])[{(]?[\p{L}\p{N}][^\s#]*$/u.test(text.trim());
}

/** Whether all that a row shows is a text in its id column that is no id: a note, and no row that lost its lead. */
export function isNote({
  leadId,
  cells,
}: {
  readonly leadId: string | null;
  readonly cells: Cells;
}): boolean {
  return leadId !== null && !isLikeId(leadId) && Object.values(cells).every((cell) => cell === null);
}
