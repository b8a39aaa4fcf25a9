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
  #found = 0;

  /** The last row that sums those above it; 0: none yet. */
  get found(): number {
    return this.#found;
  }

  /** Whether a row sums the rows above it. Takes all rows in their order; `formulas`: by column, without the equals sign. */
  see(row: number, formulas: Iterable<readonly [column: number, formula: string]>): boolean {
    const sums = Array.from(formulas, ([column, formula]) => [column, rowsSummed(formula, row)] as const);
    const before = row === this.#row + 1 ? this.#above : new Set();
    [this.#row, this.#above] = [row, new Set(sums.flatMap(([column, rows]) => (rows > 0 ? [column] : [])))];
    const isFound = sums.some(([column, rows]) => rows > 1 && !before.has(column));
    if (isFound) this.#found = row;
    return isFound;
  }
}
