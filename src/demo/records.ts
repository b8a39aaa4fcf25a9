import type { Route } from './faults.ts';

export interface SandboxStats {
  /** Refused and spoilt ones included. */
  readonly requests: number;
  readonly byRoute: Readonly<Record<Route, number>>;
  /** Requests that came before an announced Retry-After had passed. */
  readonly early: number;
  readonly throttled: number;
  readonly faults: number;
}

export interface LogEntry {
  /** Epoch ms of the arrival. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  /** With its question mark; empty when there is none. */
  readonly query: string;
  /** Null: the client got no reply. */
  readonly status: number | null;
}

const logLength = 10_000;

/** What the sandbox remembers of the requests it got; the log keeps the last 10,000. */
export class Records {
  readonly #counts = { requests: 0, early: 0, throttled: 0, faults: 0 };
  readonly #byRoute: Record<Route, number> = { list: 0, get: 0, create: 0, update: 0, delete: 0 };
  readonly #log: LogEntry[] = [];

  get stats(): SandboxStats {
    return { ...this.#counts, byRoute: { ...this.#byRoute } };
  }

  get log(): readonly LogEntry[] {
    return this.#log.slice(-logLength);
  }

  arrived(route: Route | undefined): void {
    this.#counts.requests++;
    if (route !== undefined) this.#byRoute[route]++;
  }

  early(): void {
    this.#counts.early++;
  }

  faults(count: number): void {
    this.#counts.faults += count;
  }

  replied(entry: LogEntry): void {
    if (entry.status === 429) this.#counts.throttled++;
    this.#log.push(entry);
    if (this.#log.length > 2 * logLength) this.#log.splice(0, logLength);
  }
}
