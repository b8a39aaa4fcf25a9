import type { sheets_v4 } from '@googleapis/sheets';
import { isAround } from '../shared/table-range.ts';
import { idText } from './cell-values.ts';
import { headerRow, type TabSnapshot } from './tab-snapshot.ts';

/**
 * Extends the table or filter with our headings by rows inserted at `start` (0-based): Google does so only for what is inserted
 * within. Null: nothing to extend. The filter's order is left out: set again, it would sort the rows.
 */
export function grownRange(
  { tab, columns, grid }: Pick<TabSnapshot, 'tab' | 'columns' | 'grid'>,
  start: number,
  count: number,
): sheets_v4.Schema$Request | null {
  const place = { headerRow, columns };
  const table = tab.tables.find(({ range }) => isAround(range, place));
  const filter = tab.filter !== null && isAround(tab.filter.range, place) ? tab.filter : null;
  const old = (table ?? filter)?.range;
  if (old === undefined || old.bottom > start || table?.hasTotals === true) return null;
  for (let row = old.bottom; row < start; row++) if (idText(grid, row, columns.id) === '') return null;
  const range = {
    sheetId: tab.sheetId,
    startRowIndex: old.top - 1,
    endRowIndex: start + count,
    startColumnIndex: old.left,
    endColumnIndex: old.right + 1,
  };
  if (table !== undefined)
    return { updateTable: { table: { tableId: table.tableId, range }, fields: 'range' } };
  return { setBasicFilter: { filter: { range, filterSpecs: filter?.filterSpecs ?? [] } } };
}
