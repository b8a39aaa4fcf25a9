import { expect, test } from 'vitest';
import { schedule } from '../../src/config/values.ts';
import { cronOf, usualSchedules } from '../../src/setup/schedule-words.ts';

test.each([
  ['nightly', '0 2 * * *'],
  ['  Hourly ', '0 * * * *'],
  ['every hour', '0 * * * *'],
  ['every 20 minutes', '*/20 * * * *'],
  ['every minute', '* * * * *'],
  ['every 60 minutes', '0 * * * *'],
  ['every 2 hours', '0 */2 * * *'],
  ['every 24 hours', '0 0 * * *'],
  ['daily at 7:30', '30 7 * * *'],
  ['every night 23:05', '5 23 * * *'],
  ['weekdays at 06:00', '0 6 * * 1-5'],
  ['0 3 * * 1', '0 3 * * 1'],
])('%s is %s', (words, cron) => {
  expect(cronOf(words)).toBe(cron);
  expect(schedule.parse(cronOf(words))).toBe(cron);
});

test.each(['every 7 minutes', 'every 0 minutes', 'constructor at 7:00', 'daily at 25:00', 'soon', ''])(
  '%j is left to the rules of cron patterns, which refuse it',
  (words) => expect(schedule.safeParse(cronOf(words)).success).toBe(false),
);

test('what is offered is valid', () => {
  expect(usualSchedules.map(({ cron }) => schedule.parse(cron))).toEqual(
    usualSchedules.map(({ cron }) => cron),
  );
});
