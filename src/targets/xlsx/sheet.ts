import { type Aside, asidesIn, mayShowOthers } from '../../core/lead/aside.ts';
import { idKey } from '../../core/lead/lead-id.ts';
import { pauses, TotalsRows } from '../../core/lead/table-rows.ts';
import type { Cell } from '../../core/lead/value.ts';
import { rowWord } from '../../core/lead/words.ts';
import { mostRows, readRange } from './cell-reference.ts';
import { columnLetters } from '../shared/cell-name.ts';
import { type Columns, headingRank, headingRows, headingsAmong, locateColumns } from '../shared/columns.ts';
import { type FileTableOptions, resumed } from '../file/file-format.ts';
import type { PresentRow } from '../shared/row-changes.ts';
import {
  type CellReader,
  cellReader,
  type DateStyles,
  readDateStyles,
  readSharedStrings,
} from './cell-reader.ts';
import { type XlsxFault, xlsxFaults } from './fault.ts';
import { freeSheetCell, readTables, type SheetTable } from './tables.ts';
import { cellAt, type SheetLayout, SheetReader, type SheetRow } from './rows.ts';
import { SerialClock } from '../shared/serial-clock.ts';
import {
  type CellRange,
  contains,
  isTotalsRow,
  rangeBottom,
  standingIn,
  withOutgrown,
} from '../shared/table-range.ts';
import { openWorkbook, type XlsxWorkbook } from './workbook.ts';
import type { RandomAccess } from './zip.ts';
import { xmlText } from './xml.ts';

/** An open sheet: its headings, and the rows after them. */
export interface XlsxSheet {
  readonly book: XlsxWorkbook;
  readonly header: SheetRow;
  /** The rows before the headings, and the headings. */
  readonly above: readonly SheetRow[];
  readonly columns: Columns;
  readonly cells: CellReader;
  readonly clock: SerialClock;
  readonly dates: DateStyles;
  readonly tables: readonly SheetTable[];
  /** Known with the first of `rows`. */
  readonly merged: readonly CellRange[];
  /** The last row of the formatted table that the headings belong to, else of the filter; null: neither. As `merged`. */
  bottom: number | null;
  readonly totals: TotalsRows;
  /** All stored rows after the headings; can be read once. */
  readonly rows: AsyncGenerator<readonly SheetRow[]>;
  /** Complete after all rows were read. */
  readonly layout: SheetLayout;
}

/** Opens a workbook and finds the headings. Call `rows.return` when not reading to the end. */
export async function openXlsxSheet(file: RandomAccess, options: FileTableOptions): Promise<XlsxSheet> {
  const { timeZone, name } = options;
  const { reader, batches, ...known } = await openSheetReader(file, options, timeZone, xlsxFaults(name));
  const { book, cells, tables } = known;
  try {
    const first = await firstRows(batches);
    const above = first.filter(({ row }) => row <= headingRows);
    const texts = above.map((row) => book.pack.guarded(book.sheet, () => textsOf(row, cells)));
    const at = headingsAmong(texts, options);
    const where = `None of the first ${headingRows} rows of the sheet ${JSON.stringify(book.sheetName)} has the headings; the first`;
    const headings = texts[at] ?? [];
    const header = above[at];
    const after = first.filter(({ row }) => row > (header?.row ?? 0));
    const free =
      header !== undefined && headingRank(headings, options) === 1
        ? await freeSheetCell(header, headings, resumed(after, batches), reader.layout, tables)
        : null;
    const columns = locateColumns(headings, options, options.name, free, where);
    if (header === undefined) throw new Error('no row has headings');
    const sheet = {
      header,
      above: above.slice(0, at + 1),
      ...known,
      columns,
      layout: reader.layout,
      merged: [] as readonly CellRange[],
      bottom: null as number | null,
      totals: new TotalsRows(),
      rows: rowsOf(),
    };
    return sheet;

    async function* rowsOf(): AsyncGenerator<readonly SheetRow[]> {
      const { merged, filter } = await readBehind(book);
      sheet.merged = merged;
      sheet.bottom = rangeBottom(tables, filter, placeOf(sheet), mostRows);
      yield* resumed(after, batches);
    }
  } catch (error) {
    await batches.return(undefined);
    throw error;
  }
}

export async function openSheetReader(
  file: RandomAccess,
  which: Parameters<typeof openWorkbook>[1],
  timeZone: string,
  fault: XlsxFault,
) {
  const book = await openWorkbook(file, which, fault);
  const dates = await readDateStyles(book.pack, book.styles);
  const clock = new SerialClock(timeZone, book.date1904);
  const cells = cellReader(await readSharedStrings(book.pack, book.strings), dates, clock);
  const tables = await readTables(book);
  const reader = new SheetReader(book);
  return { book, dates, clock, cells, tables, reader, batches: reader.rows() };
}

/** Null when the row has neither an id nor anything in a mapped column. Takes all rows in their order. */
export function readXlsxRow(row: SheetRow, sheet: XlsxSheet): PresentRow<SheetRow> | null {
  const { columns, cells: reader, book, layout } = sheet;
  // "Total" in a table's last row is not a lead.
  if (isTablesTotals(row, sheet)) return null;
  return book.pack.guarded(book.sheet, () => {
    const isOfSums = layout.hasFormulas && sheet.totals.see(row.row, formulasOf(row));
    const shown = reader.id(cellAt(row, columns.id));
    const cells: Record<string, Cell> = {};
    let empty = 'id' in shown && shown.id === '';
    for (const [field, { index, type, words }] of columns.fields) {
      const cell = rowWord(reader.cell(cellAt(row, index), type), words);
      cells[field] = cell;
      empty &&= cell === null;
    }
    if (empty) return null;
    for (const [field, { index }] of columns.fields) {
      const covering = cells[field] === null ? coveringCell(sheet, row.row, index) : null;
      if (covering !== null) cells[field] = { unreadable: `merged with ${covering}`, why: 'merged' };
    }
    const id = 'id' in shown && shown.id !== '' ? shown.id : null;
    const covering = id === null ? coveringCell(sheet, row.row, columns.id) : null;
    const unreadableId = 'id' in shown ? covering && `merged with ${covering}` : shown.unreadable;
    const status = columns.status === null ? '' : reader.text(cellAt(row, columns.status));
    sheet.bottom = withOutgrown(sheet.bottom, row.row, id ?? '');
    const standing = standingIn(sheet.bottom, row.row, isOfSums && id === null);
    return {
      leadId: id,
      ...(standing !== undefined && { standing }),
      ...(unreadableId !== null && { unreadableId }),
      ...(columns.pause !== null && pauses(reader.text(cellAt(row, columns.pause))) && { paused: true }),
      cells,
      status: status === '' ? null : status,
      place: row,
    };
  });
}

function formulasOf({ cells }: SheetRow): (readonly [number, string])[] {
  return cells.flatMap(({ column, formula }) =>
    formula === null ? [] : [[column, xmlText(formula)] as const],
  );
}

/** What a row shows of others, in any of its columns. Formulas and numbers only repeat what stands elsewhere. */
export function xlsxAsides(
  row: SheetRow,
  { columns, header, cells: reader, book }: XlsxSheet,
): readonly Aside[] {
  const shape = { width: (header.cells.at(-1)?.column ?? -1) + 1, id: columns.id };
  return book.pack.guarded(book.sheet, () => {
    let own: string | null = null;
    const found: Aside[] = [];
    for (const cell of row.cells) {
      if (cell.formula !== null || cell.raw === '' || (cell.type !== 's' && cell.type !== 'inlineStr'))
        continue;
      const text = reader.text(cell);
      if (!mayShowOthers(text)) continue;
      own ??= idKey(reader.text(cellAt(row, columns.id)));
      const place = `${columnLetters(cell.column)}${row.row}`;
      for (const one of asidesIn(text, shape, own === '' ? null : own)) found.push({ ...one, place });
    }
    return found;
  });
}

/** The cell that a merge shows in place of a covered one; null: not covered. */
function coveringCell({ merged }: XlsxSheet, row: number, column: number): string | null {
  const range = merged.find((candidate) => contains(candidate, row, column));
  if (range === undefined || (range.top === row && range.left === column)) return null;
  return `${columnLetters(range.left)}${range.top}`;
}

/** Whether it sums those above, in a table that says so or by a formula. Call after `readXlsxRow`. */
export function isOfSums(row: SheetRow, sheet: XlsxSheet): boolean {
  return sheet.totals.found === row.row || isTablesTotals(row, sheet);
}

function isTablesTotals({ row }: SheetRow, sheet: XlsxSheet): boolean {
  return sheet.tables.some((table) => isTotalsRow(table, row, placeOf(sheet)));
}

export function placeOf({ header, columns }: Pick<XlsxSheet, 'header' | 'columns'>) {
  return { headerRow: header.row, columns };
}

/** The stored rows up to the last that may be the headings. */
export async function firstRows(batches: AsyncGenerator<readonly SheetRow[]>): Promise<readonly SheetRow[]> {
  const rows: SheetRow[] = [];
  while ((rows.at(-1)?.row ?? 0) < headingRows) {
    const next = await batches.next();
    if (next.done === true) break;
    rows.push(...next.value);
  }
  return rows;
}

/** Displayed texts by column. */
export function textsOf(row: SheetRow, reader: CellReader): string[] {
  const texts = Array<string>((row.cells.at(-1)?.column ?? -1) + 1).fill('');
  for (const cell of row.cells) texts[cell.column] = reader.text(cell);
  return texts;
}

const dataEnd = /<\/(?:[^\s<>:]+:)?sheetData\s*>/;
/** More than a closing tag, which two chunks may split. */
const overlap = 200;

/** What a sheet says after its rows. It is unpacked for that a second time, without parsing the rows. */
export async function textBehind({ pack, sheet }: Pick<XlsxWorkbook, 'pack' | 'sheet'>): Promise<string> {
  let text = '';
  let isBehind = false;
  for await (const chunk of pack.chunks(sheet)) {
    text += chunk.toString('latin1');
    if (isBehind) continue;
    const end = dataEnd.exec(text);
    if (end === null) text = text.slice(-overlap);
    else {
      isBehind = true;
      text = text.slice(end.index);
    }
  }
  return isBehind ? text : '';
}

/** The merged cells and the filter of a sheet. They come after the rows that depend on them. */
async function readBehind(book: XlsxWorkbook): Promise<Record<'merged' | 'filter', readonly CellRange[]>> {
  const text = await textBehind(book);
  // Views of the sheet may have filters of their own.
  const [own = ''] = text.split('customSheetViews', 1);
  const all = (element: RegExp, of: string): readonly CellRange[] =>
    Array.from(of.matchAll(element), ([, ref = '']) => readRange(ref)).filter((range) => range !== null);
  return {
    merged: all(/<(?:[^\s<>:]+:)?mergeCell\s[^<>]*?ref\s*=\s*["']([^"']+)["']/g, text),
    filter: all(/<(?:[^\s<>:]+:)?autoFilter\s[^<>]*?ref\s*=\s*["']([^"']+)["']/g, own),
  };
}
