import { Temporal } from 'temporal-polyfill';
import { readInstant } from './instant.ts';

const dayMs = 86_400_000;

/** A stretch of time (epoch ms, `from` inclusive, `until` exclusive) with one offset from UTC (ms). */
export interface Stretch {
  readonly from: number;
  readonly until: number;
  readonly offset: number;
}

/** The stretches met last, by zone: 100,000 Temporal calls take seconds. */
const known = new Map<string, readonly Stretch[]>();
const maxKnown = 100;

/** A moment (epoch ms) on the clocks of an IANA zone. */
export function zoned(at: number, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone);
}

/** The time around a moment (epoch ms) in which the clocks of a zone are not changed. */
export function stretchAt(at: number, timeZone: string): Stretch {
  const stretches = known.get(timeZone) ?? [];
  const found = stretches.find(({ from, until }) => from <= at && at < until);
  if (found !== undefined) return found;
  const local = zoned(at, timeZone);
  // A change at this very moment begins the stretch.
  const change = local.add({ milliseconds: 1 }).getTimeZoneTransition('previous');
  const stretch = {
    from: change?.epochMilliseconds ?? Number.NEGATIVE_INFINITY,
    until: local.getTimeZoneTransition('next')?.epochMilliseconds ?? Number.POSITIVE_INFINITY,
    offset: local.offsetNanoseconds / 1_000_000,
  };
  known.set(timeZone, [stretch, ...stretches.slice(0, maxKnown - 1)]);
  return stretch;
}

/**
 * Calendar days before a moment (epoch ms), at the same local time; skipped or ambiguous times as Temporal's `compatible`.
 */
export function daysBefore(at: number, days: number, timeZone: string): number {
  const moved = at - days * dayMs;
  // A clock set back on the day before may have shown this time already.
  if (moved - dayMs >= stretchAt(at, timeZone).from) return moved;
  return zoned(at, timeZone).subtract({ days }).epochMilliseconds;
}

/**
 * The moment (epoch ms) at which the clocks of a zone show a local time, given as what the same clocks show in UTC (`wall`,
 * ms). Skipped or ambiguous times as Temporal's `compatible`.
 */
export function momentOf(wall: number, timeZone: string): number {
  const { from, until, offset } = stretchAt(wall, timeZone);
  const at = wall - offset;
  // Far from a change of the clocks the offset is the same.
  if (at - dayMs >= from && at + dayMs < until) return at;
  const local = zoned(wall, 'UTC').toPlainDateTime();
  return local.toZonedDateTime(timeZone).epochMilliseconds;
}

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
