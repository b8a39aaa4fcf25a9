import { TablePieces } from '../core/lead/table-pieces.ts';
import type { TargetRow } from '../ports/target.ts';

type Row = Pick<TargetRow, 'row' | 'leadId' | 'unreadableId'>;

/** A longer piece without ids is no note, but a part of the table that lost its ids. */
const longestNote = 1_000;

/** Separates the rows of a table from rows apart, which do not become leads until they join it. */
export class ApartRows<Shown extends Row> {
  readonly #pieces: TablePieces;
  /** The rows of a piece without an id so far. */
  #waiting: Shown[] = [];

  /** `hadIds`: rows of this target had ids before. */
  constructor(hadIds: boolean) {
    this.#pieces = new TablePieces(hadIds);
  }

  /** Takes rows in the target's order; returns those that are decided by now. */
  see(rows: readonly Shown[]): { readonly table: readonly Shown[]; readonly apart: readonly Shown[] } {
    const table: Shown[] = [];
    const apart: Shown[] = [];
    for (const row of rows) {
      if (this.#pieces.begins(row.row)) apart.push(...this.end());
      const isLong = this.#waiting.length >= longestNote;
      const hasId = row.leadId !== null || row.unreadableId !== undefined || isLong;
      if (this.#pieces.see(row.row, hasId)) table.push(...this.end(), row);
      else this.#waiting.push(row);
    }
    return { table, apart };
  }

  /** The rows apart at the end of the target. */
  end(): readonly Shown[] {
    return this.#waiting.splice(0);
  }
}
