import type { FileTableOptions } from '../file/file-format.ts';
import { fieldKinds } from '../../core/lead/field-kinds.ts';
import { isLikeId, isNote, TablePieces } from '../../core/lead/table-rows.ts';
import type { RowChange, RowOutcome } from '../../ports/target.ts';
import { type CellRange, contains } from '../shared/table-range.ts';
import { longestCellText, mostRows } from './cell-reference.ts';
import { columnLetters } from '../shared/cell-name.ts';
import { type Columns, ownedColumns, readColumns } from '../shared/columns.ts';
import { contentOf, notStorable, withPlaces } from '../shared/row-content.ts';
import { RowChanges, type RowDecisions, type RowWrite, rulesOf } from '../shared/row-changes.ts';
import { type Splice, splice } from '../file/splice.ts';
import { FreeRows, movedInChain, type MovedTail, movedTail, Tail } from './tail.ts';
import { grownRanges } from './grown-ranges.ts';
import { planXlsxMark } from './mark.ts';
import { type RowWriter, rowWriter } from './row-writer.ts';
import { cellAt, type SheetCell, type SheetLayout, type SheetRow } from './rows.ts';
import { isOfSums, openXlsxSheet, readXlsxRow, type XlsxSheet } from './sheet.ts';
import type { NewPart, RandomAccess } from './zip.ts';
import { isOn, type XlsxWorkbook } from './workbook.ts';
import { attribute, attributePlace } from './xml.ts';

/** What a write does to a workbook's parts; others stay. */
export interface XlsxWritePlan {
  readonly outcomes: readonly RowOutcome[];
  readonly edits: readonly PartEdit[];
  readonly added: readonly NewPart[];
}

export interface PartEdit {
  /** Name in the zip. */
  readonly part: string;
  readonly splices: readonly Splice[];
}

export const notStorableInCell = (text: string): string | null => notStorable(text, longestCellText);

/** Reads the sheet once; keeps only the affected rows in memory. `mark` is written with rows. */
export async function planXlsxWrite(
  file: RandomAccess,
  options: FileTableOptions,
  changes: readonly RowChange[],
  mark: string | undefined,
): Promise<XlsxWritePlan> {
  const sheet = await openXlsxSheet(file, options);
  const { columns, layout, header, book } = sheet;
  const mapped = ownedColumns(columns);
  const read = readColumns(columns);
  const rowChanges = new RowChanges<SheetRow>(changes, {
    ...rulesOf(columns),
    hasOwnCells: (row) => row.cells.some((cell) => isTyped(cell) && !read.has(cell.column)),
    notStorable: notStorableInCell,
    notWritable: (write) => untouchable(write, columns, layout),
  });
  const free = new FreeRows(changes.filter(({ kind }) => kind === 'append').length);
  free.restart(header.row);
  const pieces = new TablePieces();
  const notes = new Set<number>();
  const tail = new Tail(book.sheetName, (row, kind) => {
    free.see(row, kind === 'free');
    // A new row beside a note would make it part of the table.
    if (kind === 'note') for (const beside of [row.row - 1, row.row + 1]) notes.add(beside);
  });
  for (const row of sheet.above) tail.clear(row);
  let model: SheetRow | null = null;
  const styles = new Map<number, number | null>();
  const instants = [...columns.fields.values()].flatMap(({ index, type }) =>
    fieldKinds[type].isMoment ? [index] : [],
  );
  const dateCells = new Map(instants.map((column) => [column, new Map<number, number>()]));
  for await (const batch of sheet.rows) {
    for (const row of batch) {
      const present = readXlsxRow(row, sheet);
      const isSums = (present === null || present.standing === 'note') && isOfSums(row, sheet);
      if (isSums || present === null) {
        tail.see(row, isSums ? 'sums' : isFree(row, mapped) ? 'free' : 'other');
        continue;
      }
      rowChanges.see(present);
      const hasId = isLikeId(present.leadId ?? '') || present.unreadableId !== undefined;
      const isOfTable = pieces.see(row.row, hasId, present.standing) && !isNote(present);
      if (isOfTable) {
        tail.clear(row);
        free.restart(row.row);
        notes.clear();
      } else tail.see(row, 'note');
      if (present.leadId !== null) model = row;
      for (const { column, style, raw } of row.cells) {
        if (mapped.has(column)) styles.set(column, style);
        if (style === null || raw === '' || !sheet.dates.has(style)) continue;
        const counts = dateCells.get(column);
        counts?.set(style, (counts.get(style) ?? 0) + 1);
      }
    }
  }
  const decisions = rowChanges.decide();
  for (const [column, counts] of dateCells) {
    const [most] = [...counts].toSorted(([, a], [, b]) => b - a);
    if (most !== undefined) styles.set(column, most[0]);
  }
  const ofDates = instants.map((column) => styles.get(column) ?? null);
  const dateStyle = ofDates.find((style) => style !== null && sheet.dates.has(style)) ?? null;
  const writer = rowWriter(sheet, { row: model, styles, dateStyle });
  const written = new Set(decisions.writes.map(({ place: { row } }) => row));
  const moved = await tail.moved(sheet, free.last, decisions.appends.length, written);
  const appended = appendedRows(decisions, sheet, mapped, notes, free, writer, moved !== null);
  const left = new Set(decisions.appends.slice(appended.rows.length).map(({ leadId }) => leadId.trim()));
  const outcomes = withPlaces(decisions, changes, (index) => appended.rows[index]).map((outcome, index) => {
    const change = changes[index];
    const isLeft = change?.kind === 'append' && left.has(change.leadId.trim());
    return isLeft ? noRoom(outcome.key, free.last, book.sheetName) : outcome;
  });
  const splices = [
    ...decisions.writes.flatMap((write) => writer.existing(write.place, contentOf(write, columns))),
    ...appended.splices,
    ...(moved === null ? [] : pushedDown(moved, free.last, layout)),
  ];
  if (splices.length === 0) return { outcomes, edits: [], added: [] };
  const grown = grownRanges(appended.rows, sheet, moved);
  const counting = await recalculation(book, layout.hasFormulas);
  const marking =
    mark === undefined ? { edits: [], added: [] } : await planXlsxMark(book.pack, book.sheetName, mark);
  const edits = [
    { part: book.sheet.name, splices: [...splices, ...grown.sheet] },
    ...grown.tables,
    ...(moved === null ? [] : await movedInChain(book, moved)),
    { part: book.workbook.name, splices: counting },
    ...marking.edits,
  ];
  const changed = edits.filter((edit) => edit.splices.length > 0);
  return { outcomes, edits: changed, added: marking.added };
}

function pushedDown(tail: MovedTail, last: number, { dataEnd, prefix }: SheetLayout): readonly Splice[] {
  return [
    ...tail.rows.map(({ start, end }) => splice(start, end, '')),
    splice(dataEnd, dataEnd, movedTail(tail, last, prefix)),
  ];
}

function noRoom(key: string, last: number, sheet: string): RowOutcome {
  const row = Math.min(last + 1, mostRows);
  const message = `row ${row} of the sheet ${JSON.stringify(sheet)} is in the way: new rows go below the last row of the table, and no free row is left there. Move what it holds further up`;
  return { key, status: 'deferred', code: 'target.full', message };
}

/** Free even with formulas that a person filled down in advance; anything else is in use. */
function isFree(row: SheetRow, mapped: ReadonlySet<number>): boolean {
  return row.cells.every((cell) => !isTyped(cell) && (cell.formula === null || !mapped.has(cell.column)));
}

function isTyped(cell: SheetCell): boolean {
  return cell.raw !== '' && cell.formula === null;
}

/** Why a write is not possible, as a sentence. */
function untouchable(write: RowWrite<SheetRow>, columns: Columns, layout: SheetLayout): string | null {
  const { place: row } = write;
  for (const [column, { value }] of contentOf(write, columns)) {
    const cell = cellAt(row, column);
    const at = `${columnLetters(column)}${row.row}`;
    if (cell !== undefined && cell.formula !== null) return `The cell ${at} holds a formula.`;
    if (value === null && cell === undefined) continue;
    if (isWithin(layout.merged, row.row, column)) return `The cell ${at} is merged with others.`;
    if (isWithin(layout.filled, row.row, column))
      return `The cell ${at} is filled by the formula of another cell.`;
  }
  return null;
}

function isWithin(ranges: readonly CellRange[], row: number, column: number): boolean {
  return ranges.some((range) => contains(range, row, column));
}

function appendedRows(
  { appends }: RowDecisions<SheetRow>,
  { header, columns, layout, tables }: XlsxSheet,
  mapped: ReadonlySet<number>,
  notes: ReadonlySet<number>,
  free: FreeRows,
  writer: RowWriter,
  isTailMoved: boolean,
): {
  /** Fewer than `appends` where the sheet ends. */
  readonly rows: readonly number[];
  readonly splices: readonly Splice[];
} {
  const blocked = [
    ...layout.merged,
    ...layout.filled,
    ...tables.flatMap(({ whole: { range }, hasTotals }) => {
      const isOurs = contains(range, header.row, columns.id);
      if (!isOurs) return [range];
      return hasTotals && !isTailMoved ? [{ ...range, top: range.bottom }] : [];
    }),
  ].filter((range) => [...mapped].some((column) => column >= range.left && column <= range.right));
  const isBlocked = (row: number) =>
    notes.has(row) || blocked.some(({ top, bottom }) => row >= top && row <= bottom);
  const places = free.take(isBlocked, layout.dataEnd);
  const rows: number[] = [];
  const filled: Splice[] = [];
  /** New rows by the byte before which they go: one piece per position. */
  const fresh = new Map<number, string[]>();
  for (const newRow of appends) {
    const next = places.next();
    if (next.done === true) break;
    const content = contentOf(newRow, columns);
    const { row, place, at } = next.value;
    rows.push(row);
    if (place !== null) {
      filled.push(...writer.existing(place, content));
      continue;
    }
    const texts = fresh.get(at) ?? [];
    texts.push(writer.fresh(row, content));
    fresh.set(at, texts);
  }
  // A new row goes before a filled row that starts at the same byte.
  const added = [...fresh].map(([at, texts]) => splice(at, at, texts.join('')));
  return { rows, splices: [...added, ...filled] };
}

/** Elements after which `calcPr` may come (ECMA-376 part 1, 18.2.27). */
const before = new Set(['sheets', 'functionGroups', 'externalReferences', 'definedNames']);

/**
 * Makes spreadsheet programs recalculate all formulas on opening: their stored values predate our write. Empty when
 * already set, or without formulas.
 */
async function recalculation(book: XlsxWorkbook, sheetHasFormulas: boolean): Promise<readonly Splice[]> {
  if (!sheetHasFormulas && !(await otherSheetHasFormulas(book))) return [];
  return book.pack.parse(book.workbook, (elements) => {
    const [root] = elements;
    const ofRoot = elements.filter(({ parent, prefix }) => parent === root && prefix === root.prefix);
    const found = ofRoot.find(({ local }) => local === 'calcPr');
    if (found === undefined) {
      const { end } = ofRoot.findLast(({ local }) => before.has(local)) ?? root;
      return [splice(end, end, `<${root.prefix}calcPr fullCalcOnLoad="1"/>`)];
    }
    if (isOn(attribute(found.attributes, 'fullCalcOnLoad'))) return [];
    const place = attributePlace(found, 'fullCalcOnLoad');
    if (place !== null) return [splice(place.start, place.end, '1')];
    return [splice(found.attributesStart, found.attributesStart, ' fullCalcOnLoad="1"')];
  });
}

async function otherSheetHasFormulas({ pack, sheet, sheetParts }: XlsxWorkbook): Promise<boolean> {
  for (const part of sheetParts) {
    const entry = pack.find(part);
    if (entry === null || entry === sheet) continue;
    for await (const text of pack.texts(entry)) if (/[<:]f[\s>/]/.test(text)) return true;
  }
  return false;
}
