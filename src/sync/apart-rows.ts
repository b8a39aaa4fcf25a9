import { TablePieces } from '../core/lead/table-pieces.ts';
import type { TargetRow } from '../ports/target.ts';

type Row = Pick<TargetRow, 'row' | 'leadId' | 'unreadableId'>;

/** More rows in one piece are no note, but a part of the table whose ids somebody has lost. */
const longestNote = 1_000;

/** Parts the rows of a table from those that are apart, of which no lead is made until they join it. */
export class ApartRows<Shown extends Row> {
  readonly #pieces: TablePieces;
  /** The rows of a piece in which no id was met yet. */
  #waiting: Shown[] = [];

  /** `hadIds`: rows of this target have had ids before. */
  constructor(hadIds: boolean) {
    this.#pieces = new TablePieces(hadIds);
  }

  /** Rows in the order of the target; returned are those of which it is known by now. */
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

  /** What is apart at the end of the target. */
  end(): readonly Shown[] {
    return this.#waiting.splice(0);
  }
}
