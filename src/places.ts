/** Lets so many tasks run at once; the others wait, and begin in the order in which they came. */
export class Places {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Whether somebody waits for a place. */
  get isCrowded(): boolean {
    return this.#waiting.length > 0;
  }

  /** Waits for a place; to be given back. */
  async take(): Promise<Disposable> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return {
      [Symbol.dispose]: () => {
        const next = this.#waiting.shift();
        if (next === undefined) this.#free++;
        else next();
      },
    };
  }
}
