import { isDeepStrictEqual } from 'node:util';
import type { Throttle, Throttled } from '../../src/ports/leads-service.ts';

/** A throttle as the store's, in memory. */
export class MemoryThrottle implements Throttle {
  until = 0;
  pace: unknown = null;
  pauses = 0;

  look(): Promise<Throttled> {
    return Promise.resolve({ notBefore: this.until, pace: this.pace, aheadMs: 0 });
  }

  pauseUntil(epochMs: number, pace?: unknown): Promise<void> {
    this.pauses += 1;
    this.until = Math.max(this.until, epochMs);
    if (pace !== undefined) this.pace = pace;
    return Promise.resolve();
  }

  movePace(from: unknown, to: unknown): Promise<boolean> {
    const isFirst = isDeepStrictEqual(from, this.pace);
    if (isFirst) this.pace = to;
    return Promise.resolve(isFirst);
  }
}
