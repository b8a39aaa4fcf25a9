import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dayOf } from '../../src/core/lead/instant.ts';
import { shownDates, shownMoment } from '../../src/core/lead/shown-date.ts';
import { hardZones } from '../support/hard-zones.ts';
import { lawRuns } from '../support/law-runs.ts';

test.each([
  ['a day', '"2026-12-03T23:00:00.000Z"', 'Europe/Berlin', '"2026-12-04"'],
  ['a day in UTC', '2026-12-04T00:00:00.000Z', 'UTC', '2026-12-04'],
  ['no day elsewhere', '2026-12-04T00:00:00.000Z', 'Europe/Berlin', '2026-12-04 01:00 CET'],
  ['in summer', '2026-07-01T07:30:00.000Z', 'Europe/Berlin', '2026-07-01 09:30 CEST'],
  ['the evening before', '2026-12-04T00:30:00.000Z', 'America/New_York', '2026-12-03 19:30 GMT-5'],
  ['seconds', '2026-12-04T08:30:05.000Z', 'Europe/Berlin', '2026-12-04 09:30:05 CET'],
  ['milliseconds', '2026-12-04T08:30:00.070Z', 'Europe/Berlin', '2026-12-04 09:30:00.070 CET'],
  ['a day that begins at 01:00', '2026-04-23T22:00:00.000Z', 'Africa/Cairo', '2026-04-24'],
  ['long ago', '1060-02-28T23:00:00.000Z', 'UTC', '1060-02-28 23:00 UTC'],
  ['to the second, which is no day', '2026-12-03T23:00:00Z', 'Europe/Berlin', '2026-12-04 00:00 CET'],
  [
    'several in a sentence',
    'the lead has "2026-12-03T23:00:00.000Z", the row has "2026-12-04T23:00:00.000Z".',
    'Europe/Berlin',
    'the lead has "2026-12-04", the row has "2026-12-05".',
  ],
  ['no date', '2026-13-45T99:00:00.000Z', 'UTC', '2026-13-45T99:00:00.000Z'],
  [
    'a text of a person',
    '2026-12-03T23:00, X2026-12-03T23:00:00.000Z',
    'UTC',
    '2026-12-03T23:00, X2026-12-03T23:00:00.000Z',
  ],
])('%s', (_, text, timeZone, expected) => {
  expect(shownDates(text, timeZone)).toBe(expected);
});

test('when something happened is a moment, to the second', () => {
  expect(shownMoment('2026-12-03T23:00:00.987Z', 'Europe/Berlin')).toBe('2026-12-04 00:00 CET');
  expect(shownMoment(Date.UTC(2026, 11, 3, 23, 0, 7, 987), 'Europe/Berlin')).toBe('2026-12-04 00:00:07 CET');
});

test('law: what a table takes for a day is shown as that day, and nothing else is', () => {
  const quarters = fc.integer({ min: Date.UTC(2012, 0) / 900_000, max: Date.UTC(2040, 0) / 900_000 });
  fc.assert(
    fc.property(quarters, fc.nat({ max: 3 }), hardZones, (quarter, more, timeZone) => {
      const at = quarter * 900_000 + Math.max(0, more - 2);
      const day = dayOf(at, timeZone);
      const shown = shownDates(new Date(at).toISOString(), timeZone);
      if (day === null) expect(shown).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d\.\d{3})? \S+$/);
      else expect(shown).toBe(day);
    }),
    { numRuns: lawRuns(2_000) },
  );
});
