import { Temporal } from 'temporal-polyfill';
import type { Cell } from './value.ts';

const time = String.raw`(?<hour>\d{1,2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:[.,](?<fraction>\d{1,9}))?)?(?:\s*(?<half>[AaPp])\.?[Mm]\.?)?(?:\s*Uhr)?`;
const zone = String.raw`\s*(?<zone>[Zz]|UTC|GMT|[+-]\d{2}(?::?\d{2})?)`;
const rest = String.raw`(?:(?:[Tt]|,?\s+)${time}(?:${zone})?)?`;

const whole = (date: RegExp): RegExp => new RegExp(date.source + rest + '$', date.flags);

const yearFirst = whole(
  /^(?<year>[+-]\d{6}|\d{4})(?<separator>[-/.])(?<month>\d{1,2})\k<separator>(?<day>\d{1,2})/,
);
const dayFirst = whole(/^(?<day>\d{1,2})\.\s?(?<month>\d{1,2})\.\s?(?<year>\d{4}|\d{2}(?!\d))/);
const dayAndName = whole(
  /^(?<day>\d{1,2})(?:\.|st|nd|rd|th)?[\s-]\s*(?<name>\p{L}{3,9})\.?,?[\s-]\s*(?<year>\d{4})/u,
);
const nameFirst = whole(/^(?<name>\p{L}{3,9})\.?\s+(?<day>\d{1,2})(?:st|nd|rd|th)?,?\s+(?<year>\d{4})/u);
const eitherFirst = whole(/^(?<first>\d{1,2})(?<separator>[-/])(?<next>\d{1,2})\k<separator>(?<year>\d{4})/);
const basicIso = new RegExp(
  String.raw`^(?<year>\d{4})(?<month>\d{2})(?<day>\d{2})` +
    String.raw`(?:[Tt](?<hour>\d{2})(?<minute>\d{2})(?:(?<second>\d{2})(?:[.,](?<fraction>\d{1,9}))?)?(?:${zone})?)?$`,
);

/** English and German month names; three letters identify each. */
const monthNames: readonly RegExp[] = [
  /^(?:jan(?:uary|uar)?|jän(?:ner)?)$/,
  /^(?:feb(?:ruary|ruar)?)$/,
  /^(?:mar(?:ch)?|mär(?:z)?|maerz|mrz)$/,
  /^apr(?:il)?$/,
  /^(?:may|mai)$/,
  /^jun[ei]?$/,
  /^jul[yi]?$/,
  /^aug(?:ust)?$/,
  /^sept?(?:ember)?$/,
  /^(?:oct(?:ober)?|okt(?:ober)?)$/,
  /^nov(?:ember)?$/,
  /^(?:dec(?:ember)?|dez(?:ember)?)$/,
];

type Groups = Readonly<Record<string, string | undefined>>;

/**
 * Reads a moment from text.
 *
 * Out: canonical ISO text in UTC with milliseconds (`2026-03-29T00:30:00.000Z`), or null when the text is no date, no
 * real date, or ambiguous (`03/04/2026`): a guess could lose an edit.
 *
 * Dates: year-first (`2026-11-21`, `2026/11/21`, `20261121`), German (`21.11.2026`, `21.11.26`), with an English or
 * German month name (`21 Nov 2026`, `Nov 21, 2026`, `21. November 2026`), and `11/21/2026` or `21/11/2026` when only
 * one order is possible. Each alone or with a time (`T` or a space, 12 or 24 hours, seconds optional), with or without
 * `Z` or an offset.
 *
 * Without an offset the text is local time in `timeZone` (IANA); a date alone is the start of that day, and so is a
 * midnight that the clocks skip. Any other local time that they skip is none; one that occurs twice is the earlier.
 * Digits beyond milliseconds are cut off.
 */
export function readInstant(text: string, timeZone: string): string | null {
  const read = readText(text, timeZone);
  return read === skipped ? null : read;
}

/** A date cell of a table, as `readInstant` reads it; blank text is empty. */
export function instantCell(text: string, timeZone: string): Cell {
  if (text.trim() === '') return null;
  const read = readText(text, timeZone);
  if (read === skipped) return { unreadable: text, why: 'skipped' };
  return read ?? { unreadable: text };
}

const skipped = Symbol('skipped');

function readText(text: string, timeZone: string): string | typeof skipped | null {
  const trimmed = text.trim();
  if (isCanonical(trimmed)) return trimmed;
  const groups = readGroups(trimmed);
  if (groups === null) return null;
  try {
    return toCanonical(groups, timeZone);
  } catch (error) {
    // Temporal throws this when the date, time or offset does not exist.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Canonical texts of days that every month has. */
const usual = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3])(?::[0-5]\d){2}\.\d{3}Z$/;

/** Whether a text is already canonical: the fast path. */
function isCanonical(text: string): boolean {
  if (usual.test(text)) return true;
  const date = new Date(text);
  return !Number.isNaN(date.getTime()) && date.toISOString() === text;
}

function readGroups(text: string): Groups | null {
  const known = yearFirst.exec(text) ?? dayFirst.exec(text) ?? basicIso.exec(text);
  if (known?.groups !== undefined) return withCentury(known.groups);
  const composed = text.normalize('NFC');
  const named = (dayAndName.exec(composed) ?? nameFirst.exec(composed))?.groups;
  if (named !== undefined) {
    const name = named['name']?.toLowerCase() ?? '';
    const month = monthNames.findIndex((pattern) => pattern.test(name)) + 1;
    return month === 0 ? null : { ...named, month: String(month) };
  }
  const either = eitherFirst.exec(text)?.groups;
  if (either === undefined) return null;
  const first = Number(either['first']);
  const second = Number(either['next']);
  if (first !== second && first <= 12 && second <= 12) return null;
  const [day, month] = first > 12 ? [first, second] : [second, first];
  return { ...either, day: String(day), month: String(month) };
}

/** Two-digit years are of this century. */
function withCentury(groups: Groups): Groups {
  return groups['year']?.length === 2 ? { ...groups, year: `20${groups['year']}` } : groups;
}

function toCanonical(groups: Groups, timeZone: string): string | typeof skipped | null {
  if (groups['year'] === '-000000') return null;
  const date = Temporal.PlainDate.from(
    { year: number(groups['year']), month: number(groups['month']), day: number(groups['day']) },
    { overflow: 'reject' },
  );
  if (groups['hour'] === undefined) return canonicalInstant(date.toZonedDateTime({ timeZone }));
  const hour = hourOfDay(number(groups['hour']), groups['half']);
  if (hour === null) return null;
  const millisecond = number((groups['fraction'] ?? '').padEnd(3, '0').slice(0, 3));
  const clock = Temporal.PlainTime.from(
    { hour, minute: number(groups['minute']), second: number(groups['second']), millisecond },
    { overflow: 'reject' },
  );
  const local = date.toPlainDateTime(clock);
  const moment = local.toZonedDateTime(zoneOf(groups['zone'], timeZone));
  if (!moment.toPlainDateTime().equals(local) && !clock.equals(midnight)) return skipped;
  return canonicalInstant(moment);
}

const midnight = new Temporal.PlainTime();

function number(digits: string | undefined): number {
  return Number(digits ?? 0);
}

/** 12 AM is midnight, 12 PM is noon; null: no such hour. */
function hourOfDay(hour: number, half: string | undefined): number | null {
  if (half === undefined) return hour;
  if (hour < 1 || hour > 12) return null;
  return (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
}

function zoneOf(written: string | undefined, timeZone: string): string {
  if (written === undefined) return timeZone;
  return /[+-]/.test(written) ? written : 'UTC';
}

function canonicalInstant(moment: Temporal.ZonedDateTime): string {
  return new Date(moment.epochMilliseconds).toISOString();
}

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
