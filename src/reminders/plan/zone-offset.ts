import { Temporal } from 'temporal-polyfill';

const dayMs = 86_400_000;

/** Cache size in days (some megabytes). */
const rememberedDays = 20_000;

/** By zone and day number: the offset of a whole UTC day, or null when clocks change in it. */
const known = new Map<string, Map<number, number | null>>();

/**
 * A zone's offset from UTC at a moment (epoch ms), in ms. As Temporal, but cached by day: 100,000 Temporal calls take
 * seconds.
 */
export function offsetAt(at: number, timeZone: string): number {
  return steadyOffset(at, timeZone) ?? askOffset(at, timeZone);
}

/** Null when clocks change on that UTC day. */
function steadyOffset(at: number, timeZone: string): number | null {
  const day = Math.floor(at / dayMs);
  let days = known.get(timeZone);
  if (days === undefined) known.set(timeZone, (days = new Map<number, number | null>()));
  let offset = days.get(day);
  if (offset === undefined) {
    const first = askOffset(day * dayMs, timeZone);
    // No zone changed its clocks twice within a day and back.
    offset = first === askOffset((day + 1) * dayMs, timeZone) ? first : null;
    if (days.size >= rememberedDays) days.clear();
    days.set(day, offset);
  }
  return offset;
}

/** The first moment in (`from`, `until`] (epoch ms, at most a day apart) with another offset than `from`; null: none. */
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

/**
 * Calendar days before a moment (epoch ms), at the same local time; skipped or ambiguous times as Temporal's `compatible`.
 */
export function daysBefore(at: number, days: number, timeZone: string): number {
  const moved = at - days * dayMs;
  const offset = steadyOffset(at, timeZone);
  // A clock set back on the day before may have shown this time already.
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
