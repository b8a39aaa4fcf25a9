/** How a request ended: the status of its reply, or a code that says why there was none. */
type Ending = number | string;

/** Shown as 0 from the start: of a counter that appears with its first event, that event cannot be seen. */
const reasonsToWait = ['throttled', 'target-throttled', 'fault'] as const;
const refusals = [401, 429] as const;

/** One time series of a counter. */
export interface Count {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * What this process has done since it started: requests by their ending, and waits. Plain numbers, so that a command
 * that nobody scrapes loads nothing for them. Labels are names of connections and known codes, never data.
 */
export class Activity {
  readonly requests = new Tally();
  readonly waits = new Tally();
  readonly waitSeconds = new Tally();
  /** How far (ms) the clock of the service of a connection was ahead of ours at its last reply, by connection. */
  readonly serviceAheadMs = new Map<string, number>();

  constructor(connections: readonly string[]) {
    for (const connection of connections) {
      for (const status of refusals)
        this.requests.add({ side: 'leads', connection, status: String(status) }, 0);
      for (const reason of reasonsToWait) {
        this.waits.add({ connection, reason }, 0);
        this.waitSeconds.add({ connection, reason }, 0);
      }
    }
  }

  /** A request has ended. `side`: `leads`, the kind of the target, or `mail`, which belongs to no connection. */
  replied(side: string, connection: string | null, ending: Ending): void {
    const status = typeof ending === 'number' && (ending < 100 || ending > 599) ? 'odd' : String(ending);
    this.requests.add({ side, ...(connection !== null && { connection }), status }, 1);
  }

  /** A run has to wait for so many ms. */
  waited(connection: string, reason: string, ms: number): void {
    this.waits.add({ connection, reason }, 1);
    this.waitSeconds.add({ connection, reason }, ms / 1000);
  }
}

/** Sums by labels. */
class Tally implements Iterable<Count> {
  readonly #counts = new Map<string, { readonly labels: Count['labels']; value: number }>();

  add(labels: Count['labels'], value: number): void {
    const key = JSON.stringify(labels);
    const known = this.#counts.get(key) ?? { labels, value: 0 };
    known.value += value;
    this.#counts.set(key, known);
  }

  [Symbol.iterator](): Iterator<Count> {
    return this.#counts.values();
  }
}
