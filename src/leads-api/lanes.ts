import type { Throttle } from '../ports/leads-service.ts';
import { untilAborted } from '../until-aborted.ts';

/** Requests of one process that are under way at a service at most. */
export const mostLanes = 4;

/** Another lane opens after so many replies for each that is open. */
const repliesALane = 4;

/** A place in the line before a service; to be given back when its request has ended. */
export interface Lane extends Disposable {
  /** Waits until it is among the first as many as there are lanes. Throws `signal.reason` when that aborts before. */
  turn(signal: AbortSignal): Promise<void>;
}

interface Place {
  go: () => void;
}

/**
 * How many requests of this process may be under way at a service: one, and more only while that answers without
 * limiting us. A 429 may find the others under way.
 */
export class Lanes {
  #open = 1;
  #replies = 0;
  /** In the order in which they came. */
  readonly #line: Place[] = [];

  get open(): number {
    return this.#open;
  }

  join(): Lane {
    const place: Place = { go: () => {} };
    this.#line.push(place);
    return {
      turn: async (signal) => {
        while (this.#line.indexOf(place) >= this.#open) {
          const { promise, resolve } = Promise.withResolvers<void>();
          place.go = resolve;
          await untilAborted(promise, signal);
        }
      },
      [Symbol.dispose]: () => {
        this.#line.splice(this.#line.indexOf(place), 1);
        this.#wake();
      },
    };
  }

  /** A service that is not known to limit requests has answered one. */
  replied(): void {
    this.#replies += 1;
    if (this.#open === mostLanes || this.#replies < repliesALane * this.#open) return;
    this.#open += 1;
    this.#replies = 0;
    this.#wake();
  }

  /** The service limits requests, or has done so lately: from now on one at a time. */
  limit(): void {
    this.#open = 1;
    this.#replies = 0;
  }

  #wake(): void {
    for (const { go } of this.#line.slice(0, this.#open)) go();
  }
}

const known = new WeakMap<Throttle, Lanes>();

/** The lanes of all that share a throttle. */
export function lanesOf(throttle: Throttle): Lanes {
  const lanes = known.get(throttle) ?? new Lanes();
  known.set(throttle, lanes);
  return lanes;
}
