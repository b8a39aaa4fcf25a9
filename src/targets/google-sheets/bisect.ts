import { LeadsyncError } from '../../errors.ts';

export interface Refused<T> {
  readonly item: T;
  readonly error: LeadsyncError;
}

export interface Refusals<T> {
  /** Called for each single refused item. */
  alone(refused: Refused<T>): void;
  /** Whether enough were found to stop splitting. */
  isEnough(): boolean;
}

/**
 * Sends all items at once; when refused (`target.refused`), halves them until the refused ones stand alone, and sends the
 * rest. `parts` splits a single item, or returns what is still to try; the item itself when nothing is. Returns the refused
 * groups that were not split, each item with its group's error. Throws other faults.
 */
export async function bisect<T>(
  items: readonly T[],
  parts: (item: T) => readonly T[],
  send: (items: readonly T[]) => Promise<void>,
  refusals: Refusals<T>,
): Promise<readonly Refused<T>[]> {
  const [first] = items;
  if (first === undefined) return [];
  try {
    await send(items);
    return [];
  } catch (error) {
    if (!(error instanceof LeadsyncError) || error.code !== 'target.refused') throw error;
    const smaller = items.length === 1 ? parts(first) : items;
    if (smaller.length === 1 && smaller[0] === first) {
      refusals.alone({ item: first, error });
      return [];
    }
    if (refusals.isEnough()) return items.map((item) => ({ item, error }));
    const half = Math.ceil(smaller.length / 2);
    const front = await bisect(smaller.slice(0, half), parts, send, refusals);
    return [...front, ...(await bisect(smaller.slice(half), parts, send, refusals))];
  }
}
