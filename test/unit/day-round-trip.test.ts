import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dayOf, instantText, readInstant } from '../../src/core/lead/instant.ts';
import { CellValues } from '../../src/targets/google-sheets/cell-values.ts';
import { cellOf, notStorable, storedText } from '../../src/targets/hubspot/company-table.ts';
import { SerialClock } from '../../src/targets/shared/serial-clock.ts';
import { hardZones } from '../support/hard-zones.ts';
import { lawRuns } from '../support/law-runs.ts';

/** Mostly when clocks change, where a day may begin at 01:00. */
const days = fc.oneof(
  fc.constantFrom(
    '2026-03-29',
    '2026-04-24',
    '2026-09-06',
    '2026-10-25',
    '2026-11-01',
    '2018-02-18',
    '2018-11-04',
  ),
  fc
    .integer({ min: -20_000, max: 60_000 })
    .map((day) => new Date(day * 86_400_000).toISOString().slice(0, 10)),
);

/** What a table's date without a time is in the lead, and the day that it stands for. */
const agreed = fc.tuple(days, hardZones).map(([written, timeZone]) => {
  const instant = readInstant(written, timeZone) ?? '';
  return { timeZone, instant, day: dayOf(Date.parse(instant), timeZone) ?? '' };
});

function law(holds: (given: { timeZone: string; instant: string; day: string }) => void): void {
  fc.assert(fc.property(agreed, holds), { numRuns: lawRuns(300) });
}

test('law: text, as in a CSV file: the date alone, and the same instant again', () => {
  law(({ timeZone, instant, day }) => {
    expect(instantText(instant, timeZone)).toBe(day);
    expect(readInstant(day, timeZone)).toBe(instant);
  });
});

test('law: text of a moment says the moment', () => {
  const moment = fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
  fc.assert(
    fc.property(moment, hardZones, (instant, timeZone) => {
      expect(readInstant(instantText(instant, timeZone), timeZone)).toBe(instant);
    }),
    {
      numRuns: lawRuns(300),
      examples: [
        ['+275760-09-13T00:00:00.000Z', 'Africa/Cairo'],
        ['-271821-04-20T00:00:00.000Z', 'America/New_York'],
      ],
    },
  );
});

test('law: workbooks: a whole day number, which shows no time', () => {
  law(({ timeZone, instant, day }) => {
    const clock = new SerialClock(timeZone, false);
    const serial = clock.fromInstant(instant) ?? Number.NaN;
    expect(Number.isInteger(serial)).toBe(true);
    expect(clock.toLocalText(serial)).toBe(day);
    expect(clock.toInstant(serial)).toBe(instant);
  });
});

test('law: Google Sheets: a whole day number, or the date as text where no number shows as one', () => {
  law(({ timeZone, instant, day }) => {
    const values = new CellValues({ timeZone, locale: 'de_DE' });
    const [number, text] = [values.write(instant, 'instant', true), values.write(instant, 'instant', false)];
    expect(Number.isInteger(number)).toBe(true);
    expect(text).toBe(day);
    expect([number, text].map((cell) => values.read(cell, 'instant'))).toEqual([instant, instant]);
  });
});

test('law: HubSpot: the date itself in a date property, so that nothing looks edited', () => {
  law(({ timeZone, instant, day }) => {
    for (const type of ['date', 'string']) {
      const mapped = { type: 'instant' as const, property: { name: 'due', type } };
      expect(notStorable(instant, mapped, timeZone)).toBeNull();
      expect(storedText(instant, mapped, timeZone)).toBe(day);
      // HubSpot returns a date as it was sent, or as midnight UTC.
      const shown = type === 'date' ? [day, String(Date.parse(`${day}T00:00:00Z`))] : [day];
      for (const text of shown) expect(cellOf(text, mapped, timeZone)).toBe(instant);
    }
  });
});
