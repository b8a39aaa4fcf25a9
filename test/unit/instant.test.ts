import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { instantCell, readInstant } from '../../src/core/lead/instant.ts';

const berlin = (text: string) => readInstant(text, 'Europe/Berlin');

describe('readInstant', () => {
  test.each([
    ['2026-11-21T08:30:00.000Z', '2026-11-21T08:30:00.000Z'],
    ['2026-11-21T08:30:00Z', '2026-11-21T08:30:00.000Z'],
    ['2026-11-21t08:30z', '2026-11-21T08:30:00.000Z'],
    ['2026-11-21T08:30:00.1234567Z', '2026-11-21T08:30:00.123Z'],
    ['2026-11-21T08:30:00,5Z', '2026-11-21T08:30:00.500Z'],
    ['2026-11-21 09:30:00+01:00', '2026-11-21T08:30:00.000Z'],
    ['2026-11-21 09:30+0100', '2026-11-21T08:30:00.000Z'],
    ['2026-11-21 03:30 -05', '2026-11-21T08:30:00.000Z'],
    ['2026-11-21 08:30 UTC', '2026-11-21T08:30:00.000Z'],
    ['20261121T083000Z', '2026-11-21T08:30:00.000Z'],
    ['20261121T0930', '2026-11-21T08:30:00.000Z'],
    ['+012345-01-02T03:04:05.006Z', '+012345-01-02T03:04:05.006Z'],
    ['+012345-01-02T03:04Z', '+012345-01-02T03:04:00.000Z'],
    ['-000044-03-15T12:00Z', '-000044-03-15T12:00:00.000Z'],
  ])('ISO: %s', (text, instant) => {
    expect(berlin(text)).toBe(instant);
  });

  test.each([
    ['2026-11-21T09:30', '2026-11-21T08:30:00.000Z'],
    ['  2026-11-21 09:30:15 ', '2026-11-21T08:30:15.000Z'],
    ['21.11.2026 09:30', '2026-11-21T08:30:00.000Z'],
    ['21.11.2026, 9:30:15 Uhr', '2026-11-21T08:30:15.000Z'],
    ['2026/11/21 9:30', '2026-11-21T08:30:00.000Z'],
    ['11/21/2026 9:30 AM', '2026-11-21T08:30:00.000Z'],
    ['21/11/2026 09:30', '2026-11-21T08:30:00.000Z'],
    ['21-11-2026 09:30', '2026-11-21T08:30:00.000Z'],
    ['12/13/2026 09:30', '2026-12-13T08:30:00.000Z'],
    ['12/12/2026 09:30', '2026-12-12T08:30:00.000Z'],
    ['11/11/2026 12:00 am', '2026-11-10T23:00:00.000Z'],
    ['11/21/2026 1:30 am', '2026-11-21T00:30:00.000Z'],
    ['11/21/2026 12:30 p.m.', '2026-11-21T11:30:00.000Z'],
    ['31.12.26', '2026-12-30T23:00:00.000Z'],
    ['1.2.26 09:30', '2026-02-01T08:30:00.000Z'],
    ['31 Dec 2026', '2026-12-30T23:00:00.000Z'],
    ['31-Dec-2026', '2026-12-30T23:00:00.000Z'],
    ['31. Dezember 2026, 9:30 Uhr', '2026-12-31T08:30:00.000Z'],
    ['1. März 2026 09:30', '2026-03-01T08:30:00.000Z'],
    ['1. Ma\u0308rz 2026 09:30', '2026-03-01T08:30:00.000Z'],
    ['3. Okt. 2026', '2026-10-02T22:00:00.000Z'],
    ['Dec 31, 2026', '2026-12-30T23:00:00.000Z'],
    ['December 31st, 2026 9:30 AM', '2026-12-31T08:30:00.000Z'],
    ['Sept. 1, 2026 08:30Z', '2026-09-01T08:30:00.000Z'],
    ['may 2 2026', '2026-05-01T22:00:00.000Z'],
  ])('without an offset it is meant in the zone: %s', (text, instant) => {
    expect(berlin(text)).toBe(instant);
  });

  test.each([
    ['2026-11-21', 'Europe/Berlin', '2026-11-20T23:00:00.000Z'],
    ['20261121', 'Europe/Berlin', '2026-11-20T23:00:00.000Z'],
    ['1.7.2026', 'Europe/Berlin', '2026-06-30T22:00:00.000Z'],
    ['1. 7. 2026', 'Europe/Berlin', '2026-06-30T22:00:00.000Z'],
    ['2026-11-21', 'America/New_York', '2026-11-21T05:00:00.000Z'],
    // This day begins at 01:00 there.
    ['2026-04-24', 'Africa/Cairo', '2026-04-23T22:00:00.000Z'],
    // And this one at 00:30, half an hour after the clocks were put forward at 23:30.
    ['1919-03-31', 'America/Toronto', '1919-03-31T04:30:00.000Z'],
  ])('a date alone is the start of that day: %s in %s', (text, zone, instant) => {
    expect(readInstant(text, zone)).toBe(instant);
  });

  test('a doubled local time is the earlier', () => {
    expect(berlin('29.03.2026 03:00')).toBe('2026-03-29T01:00:00.000Z');
    expect(berlin('2026-10-25T02:30')).toBe('2026-10-25T00:30:00.000Z');
    expect(berlin('2026-10-25T02:30+01:00')).toBe('2026-10-25T01:30:00.000Z');
  });

  test.each([
    ['2026-03-29T02:30', 'Europe/Berlin'],
    ['29.03.2026 02:00', 'Europe/Berlin'],
    ['29. März 2026, 2:59:59 Uhr', 'Europe/Berlin'],
    ['3/29/2026 2:30 AM', 'Europe/Berlin'],
    ['2026-10-04 02:15', 'Australia/Lord_Howe'],
    ['2026-04-24 00:30', 'Africa/Cairo'],
  ])('the clocks skip it: %s in %s', (text, zone) => {
    expect(readInstant(text, zone)).toBeNull();
    expect(instantCell(text, zone)).toEqual({ unreadable: text, why: 'skipped' });
    expect(instantCell(text, 'UTC')).toEqual(readInstant(text, 'UTC'));
    expect(readInstant(`${text} +02:00`, zone) ?? readInstant(text, 'UTC')).not.toBeNull();
  });

  test('a midnight that the clocks skip is the beginning of its day', () => {
    expect(readInstant('2026-04-24 00:00', 'Africa/Cairo')).toBe(readInstant('2026-04-24', 'Africa/Cairo'));
  });

  test.each([
    '',
    'next Tuesday',
    '46347.35',
    '03/04/2026',
    '3-4-2026',
    '12/11/2026',
    '11/12/2026',
    '31.13.26',
    '21.11.261',
    '03/04/26',
    '31 Foo 2026',
    '31 Marchy 2026',
    '31 Nov 2026',
    'Dec 2026',
    'Dec 31, 26',
    '11/21/26',
    '2026-02-30',
    '30.02.2026',
    '13/13/2026',
    '2026-02-30T00:00:00.000Z',
    '2026-13-01',
    '2026-11-21T24:00',
    '2026-11-21T09:60',
    '2026-11-21T09:30+25:00',
    '2026-11-21T',
    '11/21/2026 13:30 PM',
    '+275760-09-13T00:00:00.001Z',
    '11/21/2026 0:30 AM',
    '-000000-01-01T00:00:00Z',
    '+1-01-02',
    '5012345-01-02',
    '2026-11-21 and more',
    '21.11.2026 and more',
    '21/11/2026 and more',
    'on 2026-11-21',
    'on 21.11.2026',
    'on 21/11/2026',
  ])('is not guessed at: %j', (text) => {
    expect(berlin(text)).toBeNull();
  });

  test('law: a canonical instant reads back to itself, in any zone', () => {
    const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'Africa/Cairo', 'Asia/Kolkata', 'Pacific/Chatham');
    fc.assert(
      fc.property(fc.date({ noInvalidDate: true }), zone, (date, timeZone) => {
        expect(readInstant(date.toISOString(), timeZone)).toBe(date.toISOString());
      }),
    );
  });

  test('law: never throws, and what it gives is canonical', () => {
    const text = fc.oneof(
      fc.string(),
      fc.stringMatching(
        /^[0-9+-]{1,6}[-./][0-9]{1,2}[-./][0-9]{1,4}([T ][0-9]{1,2}:[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2})?)?$/,
      ),
    );
    fc.assert(
      fc.property(text, (anything) => {
        const instant = berlin(anything);
        if (instant !== null) expect(new Date(instant).toISOString()).toBe(instant);
      }),
    );
  });
});
