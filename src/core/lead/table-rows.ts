import { isUuid } from './lead-id.ts';
import { type FieldMapping, headingKey } from './mapping.ts';
import { type Cells, folded, plainCell } from './value.ts';

/**
 * What a table itself says of a row: within its range (of a filter, of a formatted table), below that, or no row of it (sums
 * of the rows above, a comment). Absent: only ids and empty rows tell.
 */
export type RowStanding = 'within' | 'below' | 'note';

/** A row as it is read. */
export interface TableRow {
  /** Its position as the target's user would name it (1-based, the header is 1). For messages only. */
  readonly row: number;
  readonly leadId: string | null;
  /**
   * Content of an id cell that is no id and must not be overwritten: a formula without a value, an error, a covered
   * cell. `leadId` is null then. No lead is created from such a row, and while there is one no other row counts as
   * gone.
   */
  readonly unreadableId?: string;
  /** A row without id: why its id cell cannot be written, as a sentence. No lead is created. */
  readonly idClosed?: string;
  /** The column of `pauseColumn` says so: it is neither written nor read for its lead. */
  readonly paused?: true;
  /** One for each readable mapped field. A missing cell (a short line of a CSV file) is left out: it is not empty. */
  readonly cells: Cells;
  /** The status cell, empty text included. Null: there is no single status column. Never data. */
  readonly status: string | null;
}

type ShownByRow = Pick<TableRow, 'leadId' | 'cells'>;

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
export function isNote({ leadId, cells }: ShownByRow): boolean {
  return leadId !== null && !isLikeId(leadId) && Object.values(cells).every((cell) => cell === null);
}

const calls = /\b(?:SUM|SUBTOTAL|AGGREGATE|AVERAGE|COUNTA?|MAX|MIN)\(/i;
const ranges = /(?<![!\w])\$?([A-Z]{1,3})\$?(\d{1,7}):\$?([A-Z]{1,3})\$?(\d{1,7})\b/gi;

/**
 * How many rows above its own (1-based) a formula sums or counts, without the equals sign; 0: it does something else. Names
 * of functions are English, as files and the API of Google store them.
 */
export function rowsSummed(formula: string, row: number): number {
  if (!calls.test(formula)) return 0;
  const texts = formula.replaceAll(/"[^"]*"/g, '""');
  const found = Array.from(texts.matchAll(ranges), ([, left = '', top, right = '', bottom]) =>
    left.toUpperCase() === right.toUpperCase() && Number(bottom) < row && Number(top) <= Number(bottom)
      ? Number(bottom) - Number(top) + 1
      : 0,
  );
  return Math.max(0, ...found);
}

/** Recognises the row of sums below a table. */
export class TotalsRows {
  /** Columns of the row above whose formula sums as well: a running total is no row of sums. */
  #above: ReadonlySet<number> = new Set();
  #row = 0;
  /** The last row that sums those above it; 0: none yet. */
  found = 0;

  /** Whether a row sums the rows above it. Takes all rows in their order; `formulas`: by column, without the equals sign. */
  see(row: number, formulas: Iterable<readonly [column: number, formula: string]>): boolean {
    const sums = Array.from(formulas, ([column, formula]) => [column, rowsSummed(formula, row)] as const);
    const before = row === this.#row + 1 ? this.#above : new Set();
    [this.#row, this.#above] = [row, new Set(sums.flatMap(([column, rows]) => (rows > 0 ? [column] : [])))];
    const isFound = sums.some(([column, rows]) => rows > 1 && !before.has(column));
    if (isFound) this.found = row;
    return isFound;
  }
}

/** No, and an unticked box, as programs and people write them. */
const no: ReadonlySet<string> = new Set(
  (
    '|-|–|0|☐|✗|✘|no|n|false|off|nein|falsch|aus|non|faux|falso|não|nao|nee|onwaar|nie|fałsz|falsz|ne|nepravda|' +
    'nej|falsk|falskt|nei|usann|ei|epätosi|nem|hamis|hayır|hayir|yanlış|yanlis|нет|ложь|ні|хибність|όχι|ψευδές'
  ).split('|'),
);

/**
 * Whether a cell of the pause column pauses its row: a ticked box, or anything but a no. Of a word that nobody foresaw
 * this is the side on which nothing is lost.
 */
export const pauses = (text: string): boolean => !no.has(folded(text));

/**
 * Whether a row of a table is its headings once more, as when exports are pasted below each other: it shows no mapped value but
 * headings, each in its own column, the id's or two of them.
 */
export function repeatsHeadings(
  { leadId, cells }: ShownByRow,
  fields: readonly Pick<FieldMapping, 'field' | 'column'>[],
  idColumn: string,
): boolean {
  if (leadId !== null && (isUuid(leadId) || headingKey(leadId) !== headingKey(idColumn))) return false;
  let shown = leadId === null ? 0 : 2;
  for (const { field, column } of fields) {
    const text = headingKey(plainCell(cells[field] ?? null) ?? '');
    if (text === '') continue;
    if (text !== headingKey(column)) return false;
    shown += 1;
  }
  return shown >= 2;
}
