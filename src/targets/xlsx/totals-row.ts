import { contains } from '../shared/table-range.ts';
import { columnName } from './cell-reference.ts';
import type { SheetRow } from './rows.ts';
import type { XlsxSheet } from './sheet.ts';
import { attributePlace } from './xml-scanner.ts';

const references = /(?<![!\w])\$?[A-Z]{1,3}\$?(\d{1,7})\b/g;
const ranges = /(?<![!\w$])(\$?[A-Z]{1,3}\$?\d{1,7}:\$?[A-Z]{1,3}\$?)(\d{1,7})\b/g;

/**
 * The row of sums at the end of a sheet, which new rows push down. Nothing else moves: where anything follows it or refers to
 * it, it stays.
 */
export class TotalsRow {
  #row: SheetRow | null = null;
  /** The rows further down to which formulas of the sheet refer. */
  readonly #referred = new Set<number>();

  /** Takes all rows of the sheet in their order. Returns the row that this one shows not to be the last. */
  see(row: SheetRow, isTotals: boolean): SheetRow | null {
    for (const { formula } of row.cells)
      for (const [, found] of formula?.matchAll(references) ?? [])
        if (Number(found) > row.row) this.#referred.add(Number(found));
    const before = this.#row;
    this.#row = isTotals ? row : null;
    return before;
  }

  /** After all rows: the row of sums, and whether it may move; null: none. */
  async found({
    layout,
    book,
  }: XlsxSheet): Promise<{ readonly row: SheetRow; readonly mayMove: boolean } | null> {
    const row = this.#row;
    if (row === null) return null;
    const isShared = row.cells.some(({ formula }) => formula === '');
    const isCovered = [...layout.merged, ...layout.filled].some((range) =>
      row.cells.some(({ column }) => contains(range, row.row, column)),
    );
    const mayMove =
      !isShared && !isCovered && !this.#referred.has(row.row) && !(await isNamed(book, row.row));
    return { row, mayMove };
  }
}

/** Whether another part of the workbook refers to a cell of that row in any sheet. */
async function isNamed(
  { pack, sheet, workbook, sheetParts }: XlsxSheet['book'],
  row: number,
): Promise<boolean> {
  const reference = new RegExp(`![$]?[A-Z]{1,3}[$]?(?:\\d{1,7}:[$]?[A-Z]{1,3}[$]?)?${row}\\b`);
  for (const part of [workbook.name, ...sheetParts]) {
    const entry = pack.find(part);
    if (entry === null || entry === sheet) continue;
    let end = '';
    for await (const chunk of pack.chunks(entry)) {
      const text = end + chunk.toString('latin1');
      if (reference.test(text)) return true;
      end = text.slice(-40);
    }
  }
  return false;
}

/** The row's XML further down; what it sums of the table grows to the new last row. `last`: of the table before. */
export function movedTotals(row: SheetRow, to: number, last: number, prefix: string): string {
  const grown = (formula: string): string =>
    formula.replaceAll(ranges, (whole, from: string, bottom: string) =>
      [last, row.row - 1].includes(Number(bottom)) ? `${from}${to - 1}` : whole,
    );
  const cells = row.cells.map(({ column, attributes, formula, raw, type }) => {
    const f = formula === null ? '' : `<${prefix}f>${grown(formula)}</${prefix}f>`;
    const text = `<${prefix}is><${prefix}t xml:space="preserve">${raw}</${prefix}t></${prefix}is>`;
    const v = raw === '' ? '' : type === 'inlineStr' ? text : `<${prefix}v>${raw}</${prefix}v>`;
    return `<${prefix}c${renamed(attributes, `${columnName(column)}${to}`)}>${f}${v}</${prefix}c>`;
  });
  const xml = `<${prefix}row${renamed(row.attributes, String(to))}>${cells.join('')}</${prefix}row>`;
  return Buffer.from(xml, 'latin1').toString('utf8');
}

/** Attributes with another `r`. */
function renamed(attributes: string, name: string): string {
  const place = attributePlace({ attributes, attributesStart: 0 }, 'r');
  return place === null
    ? `${attributes} r="${name}"`
    : attributes.slice(0, place.start) + name + attributes.slice(place.end);
}
