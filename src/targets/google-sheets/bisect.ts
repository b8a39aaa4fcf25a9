import { LeadsyncError } from '../../errors.ts';

export interface Refused<T> {
  readonly item: T;
  readonly error: LeadsyncError;
}

export interface Refusals<T> {
  /** Told of each item that is refused, as soon as it stands alone. */
  alone(refused: Refused<T>): void;
  /** Whether so many were found that no group is taken apart any more. */
  isEnough(): boolean;
}

/**
 * Sends all items at once; when they are refused (`target.refused`), halves them until those that are refused stand
 * alone, and sends the rest. `parts` takes a single item apart when it can be, or gives what of it is still to be tried;
 * itself when there is nothing more. Gives back the refused groups that were not taken apart, each item with what was
 * said of its group. Other faults are thrown.
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
