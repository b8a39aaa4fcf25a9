import type { Throttle, Throttled } from '../../src/sync/leads-port.ts';

/** A throttle as the store's, in memory. */
export class MemoryThrottle implements Throttle {
  until = 0;
  pace: unknown = null;

  look(): Promise<Throttled> {
    return Promise.resolve({ notBefore: this.until, pace: this.pace, aheadMs: 0 });
  }

  pauseUntil(epochMs: number, pace?: unknown): Promise<void> {
    this.until = Math.max(this.until, epochMs);
    if (pace !== undefined) this.pace = pace;
    return Promise.resolve();
  }

  keepPace(pace: unknown): Promise<void> {
    this.pace = pace;
    return Promise.resolve();
  }
}
