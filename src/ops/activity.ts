/** The status of a reply, or the code of the fault without one. */
type Ending = number | string;

export interface Count {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * What this process has done since it started: requests by outcome, and waits. Plain numbers: a command, which is never
 * scraped, loads no metrics library. Labels are names of connections and known codes, never data.
 */
export class Activity {
  readonly requests = new Tally();
  readonly waitSeconds = new Tally();
  /** How far (ms) the service's clock was ahead of this machine's at its last reply, by connection. */
  readonly serviceAheadMs = new Map<string, number>();

  constructor(connections: readonly string[]) {
    // An alert looks at it, and a counter that appears with its first event shows no increase.
    for (const connection of connections) this.requests.add({ side: 'leads', connection, status: '401' }, 0);
  }

  /** Counts a request that ended. `side`: `leads`, the kind of the target, or `mail`, which belongs to no connection. */
  replied(side: string, connection: string | null, ending: Ending): void {
    const status = typeof ending === 'number' && (ending < 100 || ending > 599) ? 'odd' : String(ending);
    this.requests.add({ side, ...(connection !== null && { connection }), status }, 1);
  }

  waited(connection: string, reason: string, ms: number): void {
    this.waitSeconds.add({ connection, reason }, ms / 1000);
  }
}

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
