import { count } from './wording.ts';
import { type Cell, type Cells, isUnreadable, plainCell, storable } from './value.ts';

/**
 * The characters that are held together at most, of rows, leads or actions: some copies of them, as text and as JSON, fit into
 * the smallest heap that docs/containers.md names. Ordinary batches are far below.
 */
export const mostTogether = 8_000_000;

/** The characters of a row's or a lead's mapped fields at most: dozens of full cells of any spreadsheet program. */
export const mostOfRecord = 1_000_000;

/** The characters of all texts and names in a value, however deep: what it takes of the memory, roughly. */
export function charactersIn(value: unknown): number {
  let sum = 0;
  const open = [value];
  while (open.length > 0) {
    const one = open.pop();
    if (typeof one === 'string') sum += one.length;
    else if (Array.isArray(one)) for (const inner of one) open.push(inner);
    else if (typeof one === 'object' && one !== null)
      // Not `Object.entries`: all leads and rows come by here.
      for (const name in one) {
        sum += name.length;
        open.push((one as Readonly<Record<string, unknown>>)[name]);
      }
  }
  return sum;
}

/** Cuts items into batches of at most `most` items and, but for single larger ones, of `mostSize`. */
export function* batchesBySize<T>(
  items: Iterable<T>,
  most: () => number,
  sizeOf: (item: T) => number = charactersIn,
  mostSize = mostTogether,
): Generator<T[]> {
  let [batch, size]: [T[], number] = [[], 0];
  for (const item of items) {
    const its = sizeOf(item);
    if (batch.length >= most() || (batch.length > 0 && size + its > mostSize)) {
      yield batch;
      [batch, size] = [[], 0];
    }
    batch.push(item);
    size += its;
  }
  if (batch.length > 0) yield batch;
}

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
