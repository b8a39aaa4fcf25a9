import { readInstant } from './instant.ts';
import { stretchAt, zoned } from './zone-offset.ts';

const dayMs = 86_400_000;
/** Epoch ms: the first and last moments that a Date can hold are this far away. */
const lastMoment = 8.64e15;

/**
 * The day (`2027-11-17`) that an instant (epoch ms) stands for: it is the day's first moment in the IANA zone, which is what
 * a date without a time is read as. Null: it is a moment. Where clocks skip midnight the day begins with the first moment
 * after it; where midnight comes twice, with the first.
 */
export function dayOf(instant: number, timeZone: string): string | null {
  // In some zones the calendar has ended, which no clock can show.
  if (Math.abs(instant) > lastMoment - 2 * dayMs) return null;
  const { from, offset } = stretchAt(instant, timeZone);
  const sinceMidnight = (((instant + offset) % dayMs) + dayMs) % dayMs;
  // Long after a change of the clocks only midnight begins a day, and it comes once.
  if (instant - from > 2 * dayMs)
    return sinceMidnight === 0 ? (new Date(instant + offset).toISOString().split('T')[0] ?? null) : null;
  const local = zoned(instant, timeZone);
  return local.startOfDay().epochMilliseconds === instant ? local.toPlainDate().toString() : null;
}

/** An instant (canonical ISO text) as a table's text: a day as `2027-11-17`, else unchanged. `readInstant` reads both back. */
export function instantText(instant: string, timeZone: string): string {
  const day = dayOf(Date.parse(instant), timeZone);
  return day !== null && readInstant(day, timeZone) === instant ? day : instant;
}
