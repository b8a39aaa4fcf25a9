/** A small source of pseudo-random numbers that repeats for the same seed. Not for secrets. */
export interface Random {
  /** A number from 0 (included) to 1 (not included). */
  float(): number;
  /** An integer from 0 to `count - 1`. */
  below(count: number): number;
  pick<T>(items: readonly [T, ...T[]]): T;
}

/** mulberry32. `stream` separates the uses of one seed, so that a draw for one of them does not move the others. */
export function createRandom(seed: number, stream: string): Random {
  let state = seed >>> 0;
  for (const character of stream)
    state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;

  const float = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  const below = (count: number): number => Math.floor(float() * count);
  return { float, below, pick: (items) => items[below(items.length)] ?? items[0] };
}
