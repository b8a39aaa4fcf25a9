const leastSlots = 1_024;

/**
 * A set for millions of ids: 53-bit hashes, 16 to 32 bytes each. `false` is certain; `true` is wrong about once in some
 * billions.
 */
export class IdSet {
  /** 0: free. The length is a power of two. */
  #slots = new Float64Array(leastSlots);
  #size = 0;

  add(id: string): void {
    if (this.#size * 2 >= this.#slots.length) this.#grow();
    this.#place(hashId(id));
  }

  mayHave(id: string): boolean {
    return this.#slots[this.#find(hashId(id))] !== 0;
  }

  #place(value: number): void {
    const slot = this.#find(value);
    if (this.#slots[slot] === 0) this.#size++;
    this.#slots[slot] = value;
  }

  /** The slot of a value, or the free one where it would go. */
  #find(value: number): number {
    const { length } = this.#slots;
    let slot = value % length;
    for (;;) {
      const found = this.#slots[slot];
      if (found === 0 || found === value) return slot;
      slot = (slot + 1) % length;
    }
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Float64Array(before.length * 2);
    this.#size = 0;
    for (const value of before) if (value !== 0) this.#place(value);
  }
}

/** A 53-bit hash of a text, two mixes of its code units: 21 bits of the second above the 32 of the first; never 0. */
export function hashId(text: string): number {
  let low = 0x811c9dc5;
  let high = 0x41c6ce57;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    low = Math.imul(low ^ unit, 0x9e3779b1);
    high = Math.imul(high ^ unit, 0x5f356495);
  }
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ (high >>> 13);
  high = Math.imul(high ^ (high >>> 16), 0xc2b2ae35) ^ (low >>> 13);
  return (high & 0x1fffff) * 2 ** 32 + (low >>> 0) || 1;
}
