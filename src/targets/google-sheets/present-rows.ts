import { fieldKinds } from '../../core/lead/field-kinds.ts';
import { type Aside, asidesIn, mayShowOthers } from '../../core/lead/aside.ts';
import { idKey } from '../../core/lead/lead-id.ts';
import { isLikeId, pauses, type RowStanding, TablePieces, TotalsRows } from '../../core/lead/table-rows.ts';
import type { Cell, FieldType } from '../../core/lead/value.ts';
import { rowWord } from '../../core/lead/words.ts';
import { ownedColumns, shownStatus } from '../shared/columns.ts';
import { standingIn, withOutgrown } from '../shared/table-range.ts';
import type { PresentRow } from '../shared/row-changes.ts';
import type { TargetRow } from '../../ports/target.ts';
import { cellAt, type GridCell, isFormula, isWithin } from './grid.ts';
import { cellName } from '../shared/cell-name.ts';
import { bottomOf, holdsError, isFooter, type TabSnapshot } from './tab-snapshot.ts';
import { cellText, idText, showFormula } from './cell-values.ts';
import { isProtected } from './tab-description.ts';
import type { SheetCell } from './sheets-api.ts';

/** Rows with an id or content in a mapped column, ignoring what people fill down: check boxes and formulas. */
export function* presentRows(snapshot: TabSnapshot): Generator<PresentRow<number>> {
  for (const { row, standing } of rowsBelow(snapshot)) {
    const present = presentRow(snapshot, row);
    if (present !== null) yield standing === undefined ? present : { ...present, standing };
  }
}

function* rowsBelow(
  snapshot: TabSnapshot,
): Generator<{ readonly row: number; readonly standing: RowStanding | undefined }> {
  const totals = new TotalsRows();
  let bottom = bottomOf(snapshot);
  for (let row = 1; row < snapshot.grid.length; row++) {
    const isOfSums = totals.see(row + 1, formulasOf(snapshot, row));
    const id = idText(snapshot.grid, row, snapshot.columns.id);
    bottom = withOutgrown(bottom, row + 1, id);
    if (!isFooter(snapshot, row + 1))
      yield { row, standing: standingIn(bottom, row + 1, isOfSums && id === '') };
  }
}

function formulasOf({ grid }: TabSnapshot, row: number): (readonly [number, string])[] {
  return (grid[row] ?? []).flatMap((cell, column) =>
    isFormula(cell) ? [[column, cell.formula.replace(/^=/, '')] as const] : [],
  );
}

function presentRow(snapshot: TabSnapshot, row: number): PresentRow<number> | null {
  const { grid, columns } = snapshot;
  const id = idText(grid, row, columns.id);
  const unreadableId = unreadableIdAt(snapshot, row);
  const leadId = id === '' || unreadableId !== null ? null : id;
  let isEmpty = true;
  const cells: Record<string, Cell> = {};
  for (const [field, { index, type, words }] of columns.fields) {
    const raw = cellAt(grid, row, index);
    const cell = rowWord(readCell(snapshot, row, index, type), words);
    cells[field] = cell;
    if (raw !== null && cell !== null && !isPrepared(raw)) isEmpty = false;
  }
  // A formula without an id is prepared; an error or a merge may hide one.
  const isUnused =
    isEmpty &&
    leadId === null &&
    (unreadableId === null || (isFormula(cellAt(grid, row, columns.id)) && id === ''));
  if (isUnused) return null;
  const status = columns.status === null ? null : cellText(cellAt(grid, row, columns.status));
  const isPaused = columns.pause !== null && pauses(cellText(cellAt(grid, row, columns.pause)));
  const whose = {
    leadId,
    ...(unreadableId !== null && { unreadableId }),
    ...(isPaused && { paused: true as const }),
  };
  return { ...whose, cells, status: status === '' ? null : status, place: row };
}

function readCell(snapshot: TabSnapshot, row: number, column: number, type: FieldType): Cell {
  const raw = cellAt(snapshot.grid, row, column);
  const merge = raw === null ? mergeOver(snapshot.tab, row, column) : null;
  if (merge !== null) return { unreadable: merge, why: 'merged' };
  if (holdsError(snapshot.errors, row, column) && !isFormula(raw))
    return { unreadable: cellText(raw), why: 'error' };
  const date = fieldKinds[type].isMoment ? null : dateText(raw, snapshot.shown.get(column)?.[row]);
  return date ?? snapshot.values.read(raw, type);
}

/** The id cell's content if it is no id; null: an id, or empty. */
function unreadableIdAt(snapshot: TabSnapshot, row: number): string | null {
  const column = snapshot.columns.id;
  const raw = cellAt(snapshot.grid, row, column);
  if (raw === null) return mergeOver(snapshot.tab, row, column);
  if (isFormula(raw)) {
    const isId = cellText(raw).trim() !== '' && !holdsError(snapshot.errors, row, column);
    return isId ? null : showFormula(raw);
  }
  return holdsError(snapshot.errors, row, column) ? cellText(raw) : null;
}

/** The merged cell that covers a cell, for messages; null: not covered. */
function mergeOver({ merged }: TabSnapshot['tab'], row: number, column: number): string | null {
  const area = merged.find((each) => isWithin(each, row, column));
  if (area === undefined || (area.startRow === row && area.startColumn === column)) return null;
  return `merged with ${cellName(area.startRow, area.startColumn)}`;
}

/** Whether a cell may have content in unused rows: an unchecked box, a formula. */
function isPrepared(cell: GridCell): boolean {
  return cell === false || isFormula(cell);
}

/** With own content in our columns; else the header. Never inside merged cells of ours: a row inserted below would join them. */
export function lastRow(snapshot: TabSnapshot): number {
  const { grid, columns, tab } = snapshot;
  const owned = [...ownedColumns(columns)];
  const isUnused = (row: number): boolean =>
    owned.every((column) => {
      const cell = column === columns.id ? null : cellAt(grid, row, column);
      return cell === null || isPrepared(cell);
    });
  const pieces = new TablePieces();
  let row = 0;
  for (const { row: each, standing } of rowsBelow(snapshot)) {
    const id = idText(grid, each, columns.id);
    if (id === '' && isUnused(each)) continue;
    const isOfTable = pieces.see(each + 1, isLikeId(id), standing);
    // A note below the table stays below: rows inserted after it would make it part of the table.
    if (isOfTable && (isLikeId(id) || !isUnused(each))) row = each;
  }
  const merged = tab.merged
    .filter((area) => owned.some((column) => isWithin(area, area.startRow, column)))
    .toSorted((one, other) => one.startRow - other.startRow);
  for (const { startRow, endRow = tab.rowCount } of merged)
    if (startRow <= row && endRow > row + 1) row = endRow - 1;
  return row;
}

/** A date in a text column, as displayed; else null. */
function dateText(cell: GridCell, shown: SheetCell | undefined): string | null {
  return typeof cell === 'number' && typeof shown === 'string' && shown !== '' ? shown : null;
}

export function tabAsides({ grid, columns }: TabSnapshot): readonly Aside[] {
  const shape = { width: grid[0]?.length ?? 0, id: columns.id };
  return grid.slice(1).flatMap((cells, above) => {
    const texts = cells.flatMap((text, column) =>
      typeof text === 'string' && mayShowOthers(text) ? [{ text, column }] : [],
    );
    const own = idKey(idText(grid, above + 1, columns.id));
    return texts.flatMap(({ text, column }) =>
      asidesIn(text, shape, own === '' ? null : own).map((one) => ({
        ...one,
        place: cellName(above + 1, column),
      })),
    );
  });
}

export function* rowsOf(snapshot: TabSnapshot): Generator<TargetRow> {
  for (const { place, status, ...row } of presentRows(snapshot)) {
    const isClosed = row.leadId === null && isProtected(snapshot.tab, place, snapshot.columns.id);
    yield {
      ...row,
      row: place + 1,
      ...(isClosed && { idClosed: `The cell ${cellName(place, snapshot.columns.id)} is protected.` }),
      status: shownStatus(snapshot.columns, status),
    };
  }
}
