import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { LeadsyncError } from '../../src/lib/errors.ts';
import { Quota, type QuotaKind, quotaOf } from '../../src/targets/google-sheets/quota.ts';

class HandClock {
  epochMs = 1_000_000;
  chance = 0;

  now(): number {
    return this.epochMs;
  }

  random(): number {
    return this.chance;
  }
}

/** Ms to wait, or 0 and one request is taken whose reply is there at once. */
function tryTake(quota: Quota, kind: QuotaKind, perMinute = 60): number {
  try {
    quota.take(kind, perMinute)();
    return 0;
  } catch (error) {
    if (!(error instanceof LeadsyncError) || error.code !== 'target.rate-limited') throw error;
    expect(error.retry).toBe('later');
    return error.retryAfterMs ?? Number.NaN;
  }
}

test('the bucket is empty after as many requests as a minute allows, and full again a minute later', () => {
  const clock = new HandClock();
  const quota = new Quota(clock);
  for (let count = 0; count < 60; count++) expect(tryTake(quota, 'read')).toBe(0);
  expect(tryTake(quota, 'read')).toBe(60_000);
  clock.epochMs += 59_999;
  expect(tryTake(quota, 'read')).toBe(1);
  clock.epochMs += 1;
  expect(tryTake(quota, 'read')).toBe(0);
});

test('reads and writes are metered apart', () => {
  const quota = new Quota(new HandClock());
  expect(tryTake(quota, 'read', 1)).toBe(0);
  expect(tryTake(quota, 'read', 1)).toBe(60_000);
  expect(tryTake(quota, 'write', 1)).toBe(0);
});

test('a request counts from its reply on: when it was slow, the other side may have counted it late', () => {
  const clock = new HandClock();
  const quota = new Quota(clock);
  const replied = quota.take('write', 1);
  clock.epochMs += 70_000;
  expect(tryTake(quota, 'write', 1)).toBe(1_000);
  replied();
  expect(tryTake(quota, 'write', 1)).toBe(60_000);
});

test('never more than allowed in any minute of the other side; and the wait that is named is exact', () => {
  const step = fc.record({
    idleMs: fc.nat(40_000),
    latencyMs: fc.nat(5_000),
    countedAfter: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 60 }), (perMinute, requests) => {
      const clock = new HandClock();
      const quota = new Quota(clock);
      const counted: number[] = [];
      for (const { idleMs, latencyMs, countedAfter } of requests) {
        clock.epochMs += idleMs;
        const replied = takeWhenAllowed(quota, clock, perMinute);
        const last = clock.epochMs + latencyMs * countedAfter;
        counted.push(last);
        clock.epochMs += latencyMs;
        replied();
        expect(counted.filter((at) => at > last - 60_000).length).toBeLessThanOrEqual(perMinute);
      }
    }),
  );
});

/** Waits as long as the quota says; a millisecond earlier it has to wait for that millisecond. */
function takeWhenAllowed(quota: Quota, clock: HandClock, perMinute: number): () => void {
  try {
    return quota.take('read', perMinute);
  } catch (error) {
    if (!(error instanceof LeadsyncError)) throw error;
    const waitMs = error.retryAfterMs ?? Number.NaN;
    clock.epochMs += waitMs - 1;
    expect(tryTake(quota, 'read', perMinute)).toBe(1);
    clock.epochMs += 1;
    return quota.take('read', perMinute);
  }
}

test('a refusal shuts its own bucket for as long as was asked', () => {
  const clock = new HandClock();
  const quota = new Quota(clock);
  expect(quota.refused('write', 7_000)).toMatchObject({
    code: 'target.rate-limited',
    retry: 'later',
    retryAfterMs: 7_000,
  });
  expect(tryTake(quota, 'read')).toBe(0);
  expect(tryTake(quota, 'write')).toBe(7_000);
  clock.epochMs += 7_000;
  expect(tryTake(quota, 'write')).toBe(0);
});

test('a refusal that does not say which quota it was shuts both', () => {
  const quota = new Quota(new HandClock());
  quota.refused(null, 7_000);
  expect([tryTake(quota, 'read'), tryTake(quota, 'write')]).toEqual([7_000, 7_000]);
});

test.each([
  [0, [15_000, 30_000, 48_000, 48_000, 48_000]],
  [0.5, [22_500, 45_000, 56_000, 56_000, 56_000]],
  [1, [30_000, 60_000, 64_000, 64_000, 64_000]],
])('without a time that was asked for the waits grow up to 64 s (chance %d)', (chance, waits) => {
  const clock = new HandClock();
  clock.chance = chance;
  const quota = new Quota(clock);
  const seen = waits.map(() => {
    const { retryAfterMs = Number.NaN } = quota.refused('read', null);
    clock.epochMs += retryAfterMs;
    return retryAfterMs;
  });
  expect(seen).toEqual(waits);
  quota.allowed('read');
  expect(quota.refused('read', null).retryAfterMs).toBe(waits[0]);
});

test('a shorter wait that is asked for later does not open what is shut for longer', () => {
  const quota = new Quota(new HandClock());
  quota.refused('read', 60_000);
  expect(quota.refused('read', 1_000).retryAfterMs).toBe(60_000);
  expect(tryTake(quota, 'read')).toBe(60_000);
});

test('a clock that is put back does not shut a bucket for longer', () => {
  const clock = new HandClock();
  const quota = new Quota(clock);
  expect(tryTake(quota, 'read', 1)).toBe(0);
  quota.refused('write', 10_000);
  clock.epochMs -= 500_000;
  expect(tryTake(quota, 'read', 1)).toBe(60_000);
  expect(tryTake(quota, 'write', 1)).toBe(10_000);
});

test('an account has one quota, whoever asks for it; another account or clock another', () => {
  const clock = new HandClock();
  expect(quotaOf(clock, 'anna')).toBe(quotaOf(clock, 'anna'));
  expect(quotaOf(clock, 'anna')).not.toBe(quotaOf(clock, 'ben'));
  expect(quotaOf(new HandClock(), 'anna')).not.toBe(quotaOf(clock, 'anna'));
});
