import type { Registry } from 'prom-client';
import type { ClockDifference } from './clock-differences.ts';
import { type FigureSource, gaugesIn } from './figure-source.ts';

/** What `clockDifferences` finds, as a gauge. */
export function clockSource(
  registry: Registry,
  clocks: () => Promise<readonly ClockDifference[]>,
): FigureSource {
  const gauge = gaugesIn(registry)(
    'clock_ahead_seconds',
    ['clock', 'connection'],
    "How far the clock of this worker's machine, of Redis or of a service is ahead of the database's; below 0: behind",
  );
  return {
    name: 'clocks',
    gauges: [gauge],
    async read() {
      const found = await clocks();
      return () => {
        for (const { clock, connection = '', aheadMs } of found)
          gauge.set({ clock, connection }, aheadMs / 1_000);
      };
    },
  };
}
