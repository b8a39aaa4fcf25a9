import { Temporal } from 'temporal-polyfill';

const dayMs = 86_400_000;

/** How many days are remembered before all are forgotten: some megabytes. */
const rememberedDays = 20_000;

/** The offset of a whole day (UTC) of a zone, null when the clocks change in it, by zone and number of the day. */
const known = new Map<string, Map<number, number | null>>();

/**
 * What the clocks of a zone show at a moment (epoch ms), as if they were UTC, less UTC itself (ms). As Temporal says, and
 * remembered for each day: asking it 100,000 times takes seconds.
 */
export function offsetAt(at: number, timeZone: string): number {
  return steadyOffset(at, timeZone) ?? askOffset(at, timeZone);
}

/** The same, or null when the clocks change on that day (UTC). */
function steadyOffset(at: number, timeZone: string): number | null {
  const day = Math.floor(at / dayMs);
  let days = known.get(timeZone);
  if (days === undefined) known.set(timeZone, (days = new Map<number, number | null>()));
  let offset = days.get(day);
  if (offset === undefined) {
    const first = askOffset(day * dayMs, timeZone);
    // No zone has changed its clocks twice within a day so that they showed the same afterwards.
    offset = first === askOffset((day + 1) * dayMs, timeZone) ? first : null;
    if (days.size >= rememberedDays) days.clear();
    days.set(day, offset);
  }
  return offset;
}

/**
 * The first moment after `from` and not after `until` (epoch ms, within a day of each other) at which the offset is no
 * longer that of `from`; null when it still is at `until`.
 */
export function offsetChange(from: number, until: number, timeZone: string): number | null {
  const offset = offsetAt(from, timeZone);
  if (offsetAt(until, timeZone) === offset) return null;
  let [before, after] = [from, until];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (offsetAt(middle, timeZone) === offset) before = middle;
    else after = middle;
  }
  return after;
}

/** So many calendar days before a moment (epoch ms), at the same time of the day; where it is none or two, as Temporal's `compatible`. */
export function daysBefore(at: number, days: number, timeZone: string): number {
  const moved = at - days * dayMs;
  const offset = steadyOffset(at, timeZone);
  // Clocks that were turned back on the day before may have shown this time already.
  const isSteady = [moved - dayMs, moved].every((day) => steadyOffset(day, timeZone) === offset);
  if (offset !== null && isSteady) return moved;
  return Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone).subtract({ days })
    .epochMilliseconds;
}

function askOffset(at: number, timeZone: string): number {
  return (
    Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone).offsetNanoseconds / 1_000_000
  );
}
