import { Gauge, type Registry } from 'prom-client';

/** A connection as its figures are asked for. */
export interface WatchedConnection {
  readonly name: string;
  /** The row of `throttles` that its requests obey. */
  readonly throttleScope: string;
  /** Epoch ms at which its schedule was due for the last time before now. */
  readonly lastDue: () => number;
}

/** What one question fills. `read` asks, and hands back what sets the gauges, which are empty by then. */
export interface FigureSource {
  /** As `leadsync_scrape_error` calls it. */
  readonly name: string;
  readonly gauges: readonly Gauge[];
  read(): Promise<() => void>;
}

/** Makes gauges in a registry; their names begin with `leadsync_`. */
export function gaugesIn(registry: Registry) {
  return (name: string, labelNames: readonly string[], help: string): Gauge =>
    new Gauge({ name: `leadsync_${name}`, help: `${help}.`, labelNames, registers: [registry] });
}
