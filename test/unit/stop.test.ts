import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { heedSignals, isSuccess, stopping, untilStopped } from '../../src/cli/stop.ts';

test('a stop is the success of a command that works until then, also when it comes while that waits', async () => {
  heedSignals();
  const waited = sleep(60_000, undefined, { signal: untilStopped() }).catch((error: unknown) => error);
  expect(isSuccess(undefined)).toBe(false);
  process.emit('SIGTERM');
  expect(isSuccess(await waited)).toBe(true);
  expect(isSuccess(stopping.reason)).toBe(true);
  expect(isSuccess(new Error('another'))).toBe(false);
});
