import { describe, expect, test } from 'vitest';
import { lastDue, nextRun, previousRun } from '../../src/queue/due-times.ts';

describe('the last time before now at which a schedule was due', () => {
  test.each([
    ['0 2 * * *', 'UTC', '2026-06-10T02:00:00Z', '2026-06-09T02:00:00.000Z'],
    ['0 2 * * *', 'UTC', '2026-06-10T02:00:01Z', '2026-06-10T02:00:00.000Z'],
    ['0 2 * * *', 'Europe/Berlin', '2026-06-10T12:00:00Z', '2026-06-10T00:00:00.000Z'],
    ['0 2 * * *', 'Europe/Berlin', '2026-01-10T12:00:00Z', '2026-01-10T01:00:00.000Z'],
    // 02:00 does not exist in this night, and is there twice in that one.
    ['0 2 * * *', 'Europe/Berlin', '2026-03-29T12:00:00Z', '2026-03-29T01:00:00.000Z'],
    ['0 2 * * *', 'Europe/Berlin', '2026-10-25T12:00:00Z', '2026-10-25T00:00:00.000Z'],
    ['0 4 * * *', 'Europe/Berlin', '2026-03-29T01:59:00Z', '2026-03-28T03:00:00.000Z'],
    ['0 4 * * *', 'Europe/Berlin', '2026-03-29T12:00:00Z', '2026-03-29T02:00:00.000Z'],
    ['0 3 29 2 *', 'UTC', '2027-06-10T12:00:00Z', '2024-02-29T03:00:00.000Z'],
    ['* * * * *', 'UTC', '2026-06-10T12:00:30Z', '2026-06-10T12:00:00.000Z'],
    ['0 2 * * 1', 'America/New_York', '2026-06-10T12:00:00Z', '2026-06-08T06:00:00.000Z'],
    // Zones that are not on the hour; the clocks of Lord Howe change by half of one: 02:00 is skipped, and 01:30 is there twice.
    ['30 5 * * *', 'Asia/Kolkata', '2026-06-10T12:00:00Z', '2026-06-10T00:00:00.000Z'],
    ['0 2 * * *', 'Asia/Kolkata', '2026-06-10T12:00:00Z', '2026-06-09T20:30:00.000Z'],
    ['15 2 * * *', 'Asia/Kathmandu', '2026-06-10T12:00:00Z', '2026-06-09T20:30:00.000Z'],
    ['0 * * * *', 'Asia/Kolkata', '2026-06-10T12:00:00Z', '2026-06-10T11:30:00.000Z'],
    ['0 2 * * *', 'Australia/Lord_Howe', '2026-06-10T12:00:00Z', '2026-06-09T15:30:00.000Z'],
    ['0 2 * * *', 'Australia/Lord_Howe', '2026-12-10T12:00:00Z', '2026-12-09T15:00:00.000Z'],
    ['0 2 * * *', 'Australia/Lord_Howe', '2026-10-04T12:00:00Z', '2026-10-03T15:30:00.000Z'],
    ['45 1 * * *', 'Australia/Lord_Howe', '2026-04-05T12:00:00Z', '2026-04-04T14:45:00.000Z'],
  ])('%s in %s, at %s', (pattern, timeZone, now, expected) => {
    expect(new Date(previousRun(pattern, timeZone, Date.parse(now))).toISOString()).toBe(expected);
  });

  test.each([
    'Europe/Berlin',
    'America/New_York',
    'America/Santiago',
    'Asia/Kolkata',
    'Australia/Lord_Howe',
    'UTC',
  ])('is one moment for each night of the year in %s, whatever the clocks do', (timeZone) => {
    for (const pattern of ['30 2 * * *', '0 0 * * *']) {
      const dates: string[] = [];
      let at = Date.parse('2026-11-05T12:00:00Z');
      // Nights of spring and of autumn.
      while (dates.length < 240) {
        const before = previousRun(pattern, timeZone, at);
        expect(before).toBeLessThan(at);
        expect(nextRun(pattern, timeZone, before - 1)).toBe(before);
        if (dates.length > 0) expect(nextRun(pattern, timeZone, before)).toBe(at);
        at = before;
        dates.push(new Intl.DateTimeFormat('en-CA', { timeZone }).format(at));
      }
      expect(new Set(dates).size, pattern).toBe(240);
    }
  });
});

test.each([
  ['the first schedule', null, null, '2026-03-10T02:00:00.000Z'],
  ['one that was there when it was due', '2026-03-09T00:00:00Z', null, '2026-03-10T02:00:00.000Z'],
  ['one that came after its time, nothing owed', '2026-03-10T03:00:00Z', null, null],
  [
    'one that came after its time, and the one before owes a sync',
    '2026-03-10T03:00:00Z',
    '2026-03-10T01:00:00Z',
    '2026-03-10T01:00:00.000Z',
  ],
])('when %s was due last', (_, since, owedAt, due) => {
  const epoch = (iso: string | null): number | null => (iso === null ? null : Date.parse(iso));
  const schedule = { pattern: '0 2 * * *', timeZone: 'UTC', since: epoch(since), owedAt: epoch(owedAt) };
  const last = lastDue(schedule, Date.parse('2026-03-10T12:00:00Z'));
  expect(last === null ? null : new Date(last).toISOString()).toBe(due);
});
