import type { CellRange } from '../shared/table-range.ts';
import {
  columnIndex,
  mostColumns,
  mostRows,
  type PlacedRange,
  placedRange,
  readRange,
} from './cell-reference.ts';
import { assertTransitional, type XlsxWorkbook } from './workbook.ts';
import { attribute, localName, XmlFault, type XmlHandler, XmlScanner } from './xml.ts';

export interface SheetCell {
  readonly column: number;
  /** Bytes of the whole element. */
  readonly start: number;
  readonly end: number;
  readonly attributes: string;
  /** Its format's index, else its row's or column's (some programs do not repeat it); null: none. */
  readonly style: number | null;
  /** `n` number, `s` shared text, `inlineStr`, `str` text of a formula, `b`, `e`, `d` (ECMA-376 part 1, 18.18.11). */
  readonly type: string;
  /** Raw content: `v`, or the text of `is`. Empty: the cell only has a format. */
  readonly raw: string;
  /** Raw formula (a shared one is in the first cell only); null: none. */
  readonly formula: string | null;
}

export interface SheetRow {
  readonly row: number;
  readonly start: number;
  /** End of its opening tag, start of its closing tag (the same for `<row/>`), and end. */
  readonly contentStart: number;
  readonly contentEnd: number;
  readonly end: number;
  readonly attributes: string;
  readonly cells: readonly SheetCell[];
}

/** The sheet's part besides its rows; complete only after all rows were read. */
class Layout {
  /** Its elements' prefix with colon, or empty. */
  prefix = '';
  dataStart = { start: 0, end: 0 };
  /** Where `</sheetData>` starts; of `<sheetData/>`, where it does itself. */
  dataEnd = 0;
  dimension: PlacedRange | null = null;
  autoFilter: PlacedRange | null = null;
  readonly merged: CellRange[] = [];
  /** Ranges filled by one formula: arrays and data tables. */
  readonly filled: CellRange[] = [];
  readonly linked: CellRange[] = [];
  hasFormulas = false;
  readonly columnStyles: { from: number; to: number; style: number }[] = [];
}
export type SheetLayout = Readonly<Layout>;

export function cellAt({ cells }: SheetRow, column: number): SheetCell | undefined {
  // Fast path: most rows have all their cells.
  const usual = cells[column];
  return usual?.column === column ? usual : cells.find((cell) => cell.column === column);
}

export function columnStyle({ columnStyles }: SheetLayout, column: number): number | null {
  return columnStyles.find(({ from, to }) => column >= from && column <= to)?.style ?? null;
}

export class SheetReader implements XmlHandler {
  readonly #book: Pick<XlsxWorkbook, 'pack' | 'sheet'>;
  readonly #layout = new Layout();
  readonly #runs = new TextRuns();
  #done: SheetRow[] = [];
  #depth = 0;
  #inData = false;
  #row:
    | (Omit<SheetRow, 'contentEnd' | 'end' | 'cells'> & { cells: SheetCell[] } & { style: number | null })
    | null = null;
  #lastRow = 0;
  #cell: { column: number; start: number; attributes: string; style: number | null; type: string } | null =
    null;
  #value: string | null = null;
  #formula: string | null = null;
  #reading: 'value' | 'formula' | null = null;

  constructor(book: Pick<XlsxWorkbook, 'pack' | 'sheet'>) {
    this.#book = book;
  }

  get layout(): SheetLayout {
    return this.#layout;
  }

  /** @throws LeadsyncError `target.unreadable` */
  async *rows(): AsyncGenerator<readonly SheetRow[]> {
    const { pack, sheet } = this.#book;
    const scanner = new XmlScanner(this);
    for await (const chunk of pack.chunks(sheet)) {
      pack.guarded(sheet, () => scanner.write(chunk));
      if (this.#done.length === 0) continue;
      yield this.#done;
      this.#done = [];
    }
    pack.guarded(sheet, () => scanner.end());
    if (this.#layout.dataEnd === 0) throw pack.fault('has a sheet without rows');
  }

  open(name: string, attributes: string, start: number, end: number): void {
    const depth = this.#depth++;
    if (depth === 0) return this.#openRoot(name, attributes);
    const local = this.#local(name);
    if (this.#cell !== null) return this.#openInCell(local, attributes, depth);
    // Extensions may contain elements of the same names.
    if (depth === 1 && local === 'sheetData') {
      this.#inData = true;
      this.#layout.dataStart = { start, end };
    } else if (!this.#inData && depth <= 2)
      this.#openAround(local, attributes, start + 1 + name.length, depth);
    else if (this.#inData && depth === 2 && local === 'row') this.#openRow(attributes, start, end);
    else if (this.#row !== null && depth === 3 && local === 'c') this.#openCell(attributes, start);
  }

  close(name: string, start: number, end: number): void {
    const depth = --this.#depth;
    const local = this.#local(name);
    if (this.#cell !== null) {
      this.#runs.close(local);
      if (depth === 4) this.#reading = null;
      else if (depth === 3) this.#closeCell(end);
    } else if (depth === 2 && this.#row !== null) {
      const { style: _, ...row } = this.#row;
      this.#done.push({ ...row, contentEnd: Math.max(start, row.contentStart), end });
      this.#row = null;
    } else if (depth === 1 && this.#inData) {
      this.#inData = false;
      this.#layout.dataEnd = start;
    }
  }

  text(raw: string): void {
    if (this.#reading === 'value') this.#value += raw;
    else if (this.#reading === 'formula') this.#formula += raw;
    else if (this.#cell !== null) this.#runs.text(raw);
  }

  /** The name without the workbook's own prefix; extensions keep theirs. */
  #local(name: string): string {
    const { prefix } = this.#layout;
    if (prefix === '') return name;
    return name.startsWith(prefix) ? name.slice(prefix.length) : `:${name}`;
  }

  #openRoot(name: string, attributes: string): void {
    assertTransitional(attributes, this.#book.pack.fault);
    if (localName(name) !== 'worksheet') throw new XmlFault('is not a worksheet');
    this.#layout.prefix = name.slice(0, name.length - 'worksheet'.length);
  }

  #openRow(attributes: string, start: number, end: number): void {
    const row = Number(attribute(attributes, 'r') ?? this.#lastRow + 1);
    if (!(Number.isInteger(row) && row > this.#lastRow && row <= mostRows)) {
      throw new XmlFault(`has row ${row} after row ${this.#lastRow}`);
    }
    this.#lastRow = row;
    const isFormatted = /^(1|true)$/.test(attribute(attributes, 'customFormat') ?? '');
    const style = isFormatted ? Number(attribute(attributes, 's') ?? 0) : null;
    this.#row = { row, start, contentStart: end, attributes, cells: [], style };
  }

  #openAround(local: string, attributes: string, attributesStart: number, depth: number): void {
    const layout = this.#layout;
    const element = { attributes, attributesStart };
    if (depth === 1 && local === 'dimension') layout.dimension = placedRange(element);
    else if (depth === 1 && local === 'autoFilter') layout.autoFilter ??= placedRange(element);
    else if (local === 'mergeCell') addRange(layout.merged, attributes);
    else if (local === 'hyperlink') addRange(layout.linked, attributes);
    else if (local === 'col') {
      const style = Number(attribute(attributes, 'style') ?? 0);
      const from = Number(attribute(attributes, 'min')) - 1;
      const to = Number(attribute(attributes, 'max')) - 1;
      if (style > 0) layout.columnStyles.push({ from, to, style });
    }
  }

  #openCell(attributes: string, start: number): void {
    const row = this.#row;
    if (row === null) return;
    const usual = /^ r="([A-Z]{1,3})(\d+)"(?: s="(\d+)")?(?: t="([a-zA-Z]+)")?$/.exec(attributes);
    const named = usual === null ? attribute(attributes, 'r') : '';
    const reference = usual ?? /^([A-Z]{1,3})(\d+)$/.exec(named ?? '');
    const last = row.cells.at(-1)?.column ?? -1;
    const column = reference === null ? last + 1 : columnIndex(reference[1] ?? '');
    const misplaced = reference === null ? named !== null : Number(reference[2]) !== row.row;
    if (misplaced || column <= last || column >= mostColumns) {
      throw new XmlFault(
        `has a cell ${named || (reference?.[0] ?? '')} in the wrong place in row ${row.row}`,
      );
    }
    const own = usual === null ? attribute(attributes, 's') : (usual[3] ?? null);
    const style = own === null ? (row.style ?? columnStyle(this.#layout, column)) : Number(own);
    const type = (usual === null ? attribute(attributes, 't') : usual[4]) ?? 'n';
    this.#cell = { column, start, attributes, style, type };
    this.#value = null;
    this.#formula = null;
  }

  #openInCell(local: string, attributes: string, depth: number): void {
    if (depth === 4 && local === 'v') {
      this.#value ??= '';
      this.#reading = 'value';
    } else if (depth === 4 && local === 'f') {
      this.#formula = '';
      this.#reading = 'formula';
      this.#layout.hasFormulas = true;
      const type = attribute(attributes, 't');
      if (type === 'array' || type === 'dataTable') addRange(this.#layout.filled, attributes);
    } else {
      this.#runs.open(local);
    }
  }

  #closeCell(end: number): void {
    const text = this.#runs.take();
    if (this.#cell === null || this.#row === null) return;
    const raw = this.#cell.type === 'inlineStr' ? text : (this.#value ?? '');
    this.#row.cells.push({ ...this.#cell, end, raw, formula: this.#formula });
    this.#cell = null;
  }
}

/** Of one kind in a sheet: a small zip can hold enough of them to fill the memory. */
const mostRanges = 2_000_000;

function addRange(ranges: CellRange[], attributes: string): void {
  const range = readRange(attribute(attributes, 'ref') ?? '');
  if (range !== null && ranges.push(range) > mostRanges)
    throw new XmlFault('has too many merged cells, links or formulas');
}

/** Joins the runs of a rich text, without its phonetic reading (`rPh`). */
export class TextRuns {
  #inText = false;
  #inPhonetic = false;
  #raw = '';

  open(local: string): void {
    if (local === 't') this.#inText = true;
    else if (local === 'rPh') this.#inPhonetic = true;
  }

  close(local: string): void {
    if (local === 't') this.#inText = false;
    else if (local === 'rPh') this.#inPhonetic = false;
  }

  text(raw: string): void {
    if (this.#inText && !this.#inPhonetic) this.#raw += raw;
  }

  take(): string {
    const raw = this.#raw;
    this.#raw = '';
    return raw;
  }
}
