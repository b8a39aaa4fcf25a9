/** Rows that are found by a key of what they show, in their order, of each key as many as were asked for. */
export class WantedRows<Row> {
  readonly #slots = new Map<string, { readonly rows: Row[]; wanted: number }>();

  get isEmpty(): boolean {
    return this.#slots.size === 0;
  }

  /** Asks for one row more with this key. */
  want(key: string): void {
    const slot = this.#slots.get(key);
    if (slot === undefined) this.#slots.set(key, { rows: [], wanted: 1 });
    else slot.wanted++;
  }

  /** Keeps a row that was asked for. */
  see(key: string, row: Row): void {
    const slot = this.#slots.get(key);
    if (slot !== undefined && slot.rows.length < slot.wanted) slot.rows.push(row);
  }

  /** The next row with this key, each once. */
  take(key: string): Row | undefined {
    return this.#slots.get(key)?.rows.shift();
  }
}
