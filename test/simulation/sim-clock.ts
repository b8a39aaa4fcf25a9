import type { Random } from '../../src/demo/random.ts';
import type { Clock } from '../../src/ports/clock.ts';

/** A time that moves only on command, and a chance that the seed gives. */
export class SimClock implements Clock {
  readonly #random: Random;
  #now = Date.UTC(2030, 10, 15, 2);

  constructor(random: Random) {
    this.#random = random;
  }

  now(): number {
    return this.#now;
  }

  random(): number {
    return this.#random.float();
  }

  /** So many ms go by at once. */
  pass(ms: number): void {
    this.#now += Math.ceil(ms);
  }

  /** For SQL. */
  get iso(): string {
    return new Date(this.#now).toISOString();
  }
}
