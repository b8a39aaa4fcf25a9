import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { instantCell } from '../../src/core/lead/instant.ts';
import { SerialClock } from '../../src/targets/shared/serial-clock.ts';

const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Pacific/Apia',
];

describe.each(zones)('day numbers in %s', (zone) => {
  test('a moment that no cell can show has no number, up to the last ones there are', () => {
    const clock = new SerialClock(zone, false);
    for (const ms of [8.64e15, -8.64e15, Date.UTC(10_000, 0, 3), Date.UTC(1899, 0, 1)])
      expect(clock.fromInstant(new Date(ms).toISOString())).toBeNull();
  });

  test.each([false, true])(
    'law: an instant that is written reads back to the millisecond (1904: %s)',
    (date1904) => {
      const clock = new SerialClock(zone, date1904);
      const range = {
        min: new Date('1905-01-01T00:00:00Z'),
        max: new Date('9999-12-30T00:00:00Z'),
        noInvalidDate: true,
      };
      fc.assert(
        fc.property(fc.date(range), (date) => {
          const serial = clock.fromInstant(date.toISOString());
          // None: the second of two equal local times, which text has to say.
          if (serial === null) return;
          expect(clock.toInstant(Number(String(serial)))).toBe(date.toISOString());
        }),
        { numRuns: 500 },
      );
    },
  );
});

test('law: a number is read as the text that the cell shows, also where the clocks skip or repeat an hour', () => {
  const changes = {
    'Europe/Berlin': '2026-03-29',
    'Africa/Cairo': '2026-04-24',
    'Australia/Lord_Howe': '2026-10-04',
  };
  for (const [zone, day] of Object.entries(changes)) {
    const clock = new SerialClock(zone, false);
    const midnight = Date.parse(day) / 86_400_000 + 25_569;
    const minutes = fc.integer({ min: -24 * 60, max: 48 * 60 });
    fc.assert(
      fc.property(minutes, (minute) => {
        const serial = midnight + minute / 1440;
        const read = instantCell(clock.toLocalText(serial) ?? '', zone);
        expect(clock.toInstant(serial)).toBe(typeof read === 'string' ? read : null);
        expect(clock.isSkipped(serial)).toBe(typeof read !== 'string');
      }),
      { numRuns: 300, examples: [[0], [15], [59], [60], [120], [150], [180]] },
    );
  }
});

test('only the later of two equal local times has no number', () => {
  const clock = new SerialClock('Europe/Berlin', false);
  expect(clock.fromInstant('2026-10-25T00:30:00.000Z')).not.toBeNull();
  expect(clock.fromInstant('2026-10-25T01:30:00.000Z')).toBeNull();
  expect(clock.fromInstant('2026-10-25T02:30:00.000Z')).not.toBeNull();
});

test.each([
  [false, 1, '1900-01-01T00:00:00.000Z'],
  [false, 59, '1900-02-28T00:00:00.000Z'],
  [false, 60, null],
  [false, 61, '1900-03-01T00:00:00.000Z'],
  [false, 45_982.395_833_333_336, '2025-11-21T09:30:00.000Z'],
  [false, 45_982.395_833_333, '2025-11-21T09:30:00.000Z'],
  [false, 2_958_465, '9999-12-31T00:00:00.000Z'],
  [false, 2_958_466, null],
  [false, 0.5, null],
  [false, -1, null],
  [false, Number.NaN, null],
  [true, 1, '1904-01-02T00:00:00.000Z'],
  [true, 44_520, '2025-11-21T00:00:00.000Z'],
])('1904: %s, day %d is %s', (date1904, serial, instant) => {
  expect(new SerialClock('UTC', date1904).toInstant(serial)).toBe(instant);
});

test.each([
  [45_982, '2025-11-21'],
  [45_982.395_833_333_336, '2025-11-21 09:30'],
  [45_982.395_844_907_41, '2025-11-21 09:30:01'],
])('day %d is read as %s', (serial, text) => {
  expect(new SerialClock('Europe/Berlin', false).toLocalText(serial)).toBe(text);
});
