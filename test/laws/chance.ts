/** Cheap random choices that a seed repeats: a million states are drawn in minutes. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = (Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995) >>> 0;
    for (let i = 0; i < 4; i++) this.below(2);
  }

  /** A whole number from 0 up to `end`, without it. */
  below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000) * end);
  }

  is(percent: number): boolean {
    return this.below(100) < percent;
  }

  of<T>(...items: readonly [T, ...T[]]): T {
    return items[this.below(items.length)] ?? items[0];
  }
}
