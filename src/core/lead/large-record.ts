import { count } from './counted.ts';
import { mostOfRecord } from './text-size.ts';
import { type Cell, type Cells, isUnreadable, plainCell, storable } from './value.ts';

/** The characters that are kept of each other cell, for messages. */
const mostShown = 60;

const sizeOf = (cell: Cell | undefined): number => plainCell(cell ?? null)?.length ?? 0;

/** The cells of a record; of one with more text than `mostOfRecord` none is readable, and the longest says so (`why`). */
export function withinSize(cells: Cells): Cells {
  let sum = 0;
  for (const field in cells) sum += sizeOf(cells[field]);
  if (sum <= mostOfRecord) return cells;
  const [longest] = Object.keys(cells).toSorted((a, b) => sizeOf(cells[b]) - sizeOf(cells[a]));
  const held = ([field, cell]: [string, Cell]): [string, Cell] => {
    if (field !== longest)
      return [field, { unreadable: storable((plainCell(cell) ?? '').slice(0, mostShown)) }];
    const sizes = `${count(sum)} characters, ${count(sizeOf(cell))} of them`;
    return [field, { unreadable: sizes, why: 'large' }];
  };
  return Object.fromEntries(Object.entries(cells).map(held));
}

/** The longest field of a record that is too large, and how many characters it has; null: it is not. */
export function largeField(cells: Cells): { readonly field: string; readonly sizes: string } | null {
  for (const field in cells) {
    const cell = cells[field];
    if (isUnreadable(cell) && cell.why === 'large') return { field, sizes: cell.unreadable };
  }
  return null;
}
