import { LeadsyncError } from '../../errors.ts';

export interface Refused<T> {
  readonly item: T;
  readonly error: LeadsyncError;
}

/**
 * Sends all items at once; when they are refused (`target.refused`), halves them until those that are refused stand
 * alone, and sends the rest. `parts` takes a single item apart when it can be, or gives what of it is still to be tried;
 * itself when there is nothing more. Other faults are thrown.
 */
export async function bisect<T>(
  items: readonly T[],
  parts: (item: T) => readonly T[],
  send: (items: readonly T[]) => Promise<void>,
): Promise<readonly Refused<T>[]> {
  const [first] = items;
  if (first === undefined) return [];
  try {
    await send(items);
    return [];
  } catch (error) {
    if (!(error instanceof LeadsyncError) || error.code !== 'target.refused') throw error;
    const smaller = items.length === 1 ? parts(first) : items;
    if (smaller.length === 1 && smaller[0] === first) return [{ item: first, error }];
    const half = Math.ceil(smaller.length / 2);
    const front = await bisect(smaller.slice(0, half), parts, send);
    return [...front, ...(await bisect(smaller.slice(half), parts, send))];
  }
}
