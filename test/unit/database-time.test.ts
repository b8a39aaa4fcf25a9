import { expect, test } from 'vitest';
import { describeClocks } from '../../src/cli/check.ts';
import { correction } from '../../src/store/database-time.ts';

test.each([
  ['a clock that agrees is left alone', 0, [1_000, 1_005, 1_010], 0],
  ['a slow reply moves nothing', 40, [1_000, 1_050, 9_000], 40],
  ['one that is behind goes forward by what is certain', 0, [1_000, 5_000, 1_010], 3_990],
  ['one that is ahead goes back by what is certain', 0, [5_000, 1_000, 5_010], -4_000],
  ['what was found before is corrected', 3_990, [1_000, 1_200, 1_010], 200],
] as const)('%s', (_, before, [asked, there, answered], expected) => {
  expect(correction(before, asked, there, answered)).toBe(expected);
});

test.each([
  [{ clock: 'worker', aheadMs: 4_000 }, undefined, 'this machine 4.0 s ahead'],
  [{ clock: 'worker', aheadMs: -1_800_000 }, true, 'this machine 1800.0 s behind'],
  [{ clock: 'redis', aheadMs: 5_100 }, true, 'Redis 5.1 s ahead'],
  [{ clock: 'service', connection: 'berlin', aheadMs: -6_000 }, true, 'the service of berlin 6.0 s behind'],
] as const)('check tells a clock that is beyond a few seconds: %j', (clock, warning, words) => {
  const line = describeClocks([clock]);
  expect(line.ok).toBe(true);
  expect(line.warning).toBe(warning);
  expect(line.message).toContain(words);
});
