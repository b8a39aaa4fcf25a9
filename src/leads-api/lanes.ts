import type { Throttle } from '../ports/leads-service.ts';
import { untilAborted } from '../lib/waiting.ts';

/** The most concurrent requests of one process to a service. */
export const mostLanes = 4;

/** Replies per open lane before another lane opens. */
const repliesALane = 4;

/** A place in the queue of requests; dispose when the request has ended. */
export interface Lane extends Disposable {
  /** Waits for a free lane. Throws `signal.reason` when aborted first. */
  turn(signal: AbortSignal): Promise<void>;
}

interface Place {
  go: () => void;
}

/** One request at first, more only while the service answers without 429, which may arrive while others are under way. */
export class Lanes {
  /** How many there are now. */
  open = 1;
  #replies = 0;
  /** First come, first served. */
  readonly #line: Place[] = [];

  join(): Lane {
    const place: Place = { go: () => {} };
    this.#line.push(place);
    return {
      turn: async (signal) => {
        while (this.#line.indexOf(place) >= this.open) {
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

  /** A reply of a service that is not known to limit requests. */
  replied(): void {
    this.#replies += 1;
    if (this.open === mostLanes || this.#replies < repliesALane * this.open) return;
    this.open += 1;
    this.#replies = 0;
    this.#wake();
  }

  /** The service limits requests, now or recently: one at a time from now on. */
  limit(): void {
    this.open = 1;
    this.#replies = 0;
  }

  #wake(): void {
    for (const { go } of this.#line.slice(0, this.open)) go();
  }
}

const known = new WeakMap<Throttle, Lanes>();

export function lanesOf(throttle: Throttle): Lanes {
  const lanes = known.get(throttle) ?? new Lanes();
  known.set(throttle, lanes);
  return lanes;
}
