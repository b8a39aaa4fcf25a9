import type { Throttle } from '../../src/sync/leads-port.ts';

/** A throttle as the store's, in memory. */
export class MemoryThrottle implements Throttle {
  until = 0;

  notBefore(): Promise<number> {
    return Promise.resolve(this.until);
  }

  pauseUntil(epochMs: number): Promise<void> {
    this.until = Math.max(this.until, epochMs);
    return Promise.resolve();
  }
}
