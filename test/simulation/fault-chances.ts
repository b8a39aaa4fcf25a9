import type { Random } from '../../src/demo/random.ts';

/** Chances of what goes wrong with each request to a service. */
export interface FaultRates<Fault> {
  readonly each: number;
  readonly faults: readonly [Fault, ...Fault[]];
}

/** What goes wrong with the requests to a service: nothing, until it fails, and after it has recovered. */
export class FaultChances<Fault> {
  #next: () => Fault | null = () => null;

  /** What goes wrong with the next request; null: nothing. */
  next(): Fault | null {
    return this.#next();
  }

  /** Gives what is to be told of it, null when nothing goes wrong. */
  fail(rates: FaultRates<Fault> | null, random: Random): string | null {
    if (rates === null) return null;
    const { each, faults } = rates;
    this.#next = () => (random.float() < each ? random.pick(faults) : null);
    return `${each.toFixed(3)} ${JSON.stringify(faults)}`;
  }

  recover(): void {
    this.#next = () => null;
  }
}
