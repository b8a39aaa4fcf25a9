import { LeadsyncError } from '../../lib/errors.ts';

export interface Refused<T> {
  readonly item: T;
  readonly error: LeadsyncError;
}

export interface Refusals<T> {
  alone(refused: Refused<T>): void;
  isEnough(): boolean;
}

/**
 * Sends all at once; when refused (`target.refused`), halves until the refused ones stand alone. `parts` splits a single item, or gives
 * what is still to try (itself: nothing is). Returns refused groups that were not split. Throws other faults.
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
