import { isLikeId, isNote, TablePieces } from '../core/lead/table-pieces.ts';
import type { TargetRow } from '../ports/target.ts';

type Row = Pick<TargetRow, 'row' | 'leadId' | 'unreadableId' | 'standing' | 'cells'>;

/** A longer piece without ids is no note, but a part of the table that lost its ids. */
const longestNote = 1_000;

/** Separates the rows of a table from rows apart, which do not become leads until they join it. */
export class ApartRows<Shown extends Row> {
  readonly #pieces = new TablePieces();
  readonly #joins: (row: Shown) => boolean;
  /** The last row within the range of the table, or added to it. */
  #last = 0;
  /** The rows of a piece without an id so far. */
  #waiting: Shown[] = [];

  /** `joins`: whether a row directly below the range of the table was added to it, as in programs that do not extend it. */
  constructor(joins: (row: Shown) => boolean = () => false) {
    this.#joins = joins;
  }

  /** Takes rows in the target's order; returns those that are decided by now. */
  see(rows: readonly Shown[]): { readonly table: readonly Shown[]; readonly apart: readonly Shown[] } {
    const table: Shown[] = [];
    const apart: Shown[] = [];
    for (const row of rows) {
      const standing = this.#standingOf(row);
      if (this.#pieces.begins(row.row, standing)) apart.push(...this.end());
      const isLong = this.#waiting.length >= longestNote && standing === undefined;
      const hasId = isLikeId(row.leadId ?? '') || row.unreadableId !== undefined || isLong;
      const isOfTable = this.#pieces.see(row.row, hasId, standing);
      if (isNote(row)) apart.push(withoutText(row));
      else if (isOfTable) table.push(...this.#waiting.splice(0), row);
      else if (standing === 'note') apart.push(withoutText(row));
      else this.#waiting.push(row);
    }
    return { table, apart };
  }

  /** The rows apart at the end of the target. */
  end(): readonly Shown[] {
    return this.#waiting.splice(0).map(withoutText);
  }

  #standingOf(row: Shown): TargetRow['standing'] {
    const isNext = row.standing === 'below' && row.row === this.#last + 1;
    const standing = isNext && this.#joins(row) ? 'within' : row.standing;
    if (standing === 'within') this.#last = row.row;
    return standing;
  }
}

/** A text in the id column of a row apart is no id. */
function withoutText<Shown extends Row>(row: Shown): Shown {
  return row.leadId === null ? row : { ...row, leadId: null };
}
