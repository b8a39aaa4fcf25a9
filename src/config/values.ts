import { headingKey } from '../core/lead/mapping.ts';
import { createRequire } from 'node:module';
import type * as CronParser from 'cron-parser';
import { z } from 'zod';
import { isEmailAddress } from '../core/lead/email-address.ts';
import { didYouMean } from '../core/lead/wording.ts';
import { Secret } from './secret.ts';

declare module 'zod' {
  /** What a schema says of a setting beside its `description`. */
  interface GlobalMeta {
    readonly env?: string;
    /** Its variable is also read from the file that `<variable>_FILE` names. */
    readonly secret?: true;
  }
}

/** A text; `check` says what is wrong with it and what is allowed, or null. It never repeats the text: that may be a secret. */
export function text(check: (value: string) => string | null) {
  return z.string().check(({ value, issues }) => {
    const message = check(value);
    if (message !== null) issues.push({ code: 'custom', message, input: value });
  });
}

/** A text that `read` turns into a value; where it gives null, the mistake is `allowed`. */
function parsed<T>(read: (text: string) => T | null, allowed: string) {
  return z.string().transform((value, context): T => {
    const result = read(value);
    if (result !== null) return result;
    context.issues.push({ code: 'custom', message: allowed, input: value });
    return z.NEVER;
  });
}

/** The same; a number counts as its digits. */
function parsedOrNumber<T>(read: (text: string) => T | null, allowed: string) {
  return z.union([z.number(), z.string()], { error: allowed }).transform(String).pipe(parsed(read, allowed));
}

export function secret(value: z.ZodType<string, string>) {
  return value.transform((written) => new Secret(written)).meta({ secret: true });
}

/** A header value: an HTTP client could not send anything else. */
export function secretToken(meaning: string) {
  const allowed = `must be ${meaning}: one line of visible ASCII characters, no blanks`;
  return secret(z.string().refine((value) => /^[\x21-\x7e]+$/.test(value), allowed));
}

/** A whole number, also as the environment gives it: as text. */
export function count(
  least: number,
  most: number,
  allowed = `must be a whole number from ${least} to ${most}`,
) {
  const number = z.int(allowed).min(least, allowed).max(most, allowed);
  const digits = z.string().refine((value) => /^\d{1,15}$/.test(value), allowed);
  return z.union([number, digits.transform(Number).pipe(number)]);
}

/** A list of at least one item, and of none twice (compared without case); the mistakes are `empty` and `twice`. */
export function listOf<T extends z.ZodType<string, string>>(item: T, empty: string, twice: string) {
  return z
    .array(item)
    .min(1, empty)
    .refine((list) => new Set(list.map(headingKey)).size === list.length, twice);
}

export function filled(allowed: string) {
  return z.string().refine((value) => value.trim() !== '', allowed);
}

export const heading = filled('must be the heading of a column');

export function filePath(of: 'file' | 'folder') {
  const allowed = `must be the path of a ${of}`;
  return text((path) => (path.trim() === '' || path.includes('\0') ? allowed : pathMistake(path)));
}

/** What is wrong with a path that looks right and would lead into a folder named `~` or `file:`, or null. */
export function pathMistake(path: string): string | null {
  if (/^~[^/\\]*[/\\]/.test(path))
    return 'must have its home folder written out: "~" means one to a shell only, and only without quotes';
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(path) ? 'must be a path, not an address' : null;
}

/** A number of rows as `10`, or a share of the known pairs as `10%`. */
export const limit = parsedOrNumber((written) => {
  const [, digits, sign] = /^(\d{1,9})(%?)$/.exec(written) ?? [];
  const amount = Number(digits);
  const percent = sign === '%';
  return digits === undefined || (percent && amount > 100) ? null : { amount, percent };
}, 'must be a whole number of rows such as 10, or a share from 0% to 100% such as 10%');

export const retention = parsedOrNumber((written) => {
  const days = /^[1-9]\d{0,3}d?$/.test(written) ? Number.parseInt(written, 10) : 0;
  return days >= 1 && days <= 3650 ? days : null;
}, 'must be a number of days from 1 to 3650, such as 90d');

/** How long before a follow-up falls due a mail is sent: whole calendar days, and time on the clock (ms). */
export interface Offset {
  /** As it was written: `0m`, `2h`, `1d`. Part of a reminder's key. */
  readonly text: string;
  readonly days: number;
  readonly ms: number;
}

/** As in ISO: 1 is Monday. */
export type Weekday = 1 | 2 | 3 | 4 | 5 | 6 | 7;

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function readDuration(written: string) {
  const [, digits, unit] = /^(\d{1,6})([mhd])$/.exec(written) ?? [];
  if (digits === undefined) return null;
  const amount = Number(digits);
  return { amount, unit, ms: amount * unitMs[unit as keyof typeof unitMs] };
}

/**
 * A time before the follow-up. Its text is part of a reminder's key, so it is always the same for the same time: `60m` is
 * `1h`, nothing is `0m`. `24h` is not `1d`, which is a calendar day.
 */
export const offset = parsed((written): Offset | null => {
  const { amount, unit, ms } = readDuration(written) ?? { amount: 0, unit: '', ms: Number.NaN };
  if (!(ms <= 365 * unitMs.d)) return null;
  if (unit === 'd' && amount > 0) return { text: `${amount}d`, days: amount, ms: 0 };
  const name = ms > 0 && ms % unitMs.h === 0 ? `${ms / unitMs.h}h` : `${ms / unitMs.m}m`;
  return { text: name, days: 0, ms };
}, 'must be a time before the follow-up, from 0m to 365d: minutes, hours or days such as 30m, 2h or 1d');

/** A length of time (ms). */
export const waitingTime = parsed((written): number | null => {
  const ms = readDuration(written)?.ms ?? Number.NaN;
  return ms <= 30 * unitMs.d ? ms : null;
}, 'must be a time from 0m to 30d: minutes, hours or days such as 30m, 6h or 1d');

/** Minutes since midnight of `08:00`, or null. */
function readTime(written: string): number | null {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(written) ?? [];
  return hours === undefined ? null : Number(hours) * 60 + Number(minutes);
}

export const timeOfDay = parsed(
  readTime,
  'must be a time of the day from "00:00" to "23:59", such as "08:00"',
);

/** The end may be 24:00. */
export const quietHours = parsed((written) => {
  const [start = '', end = '', ...more] = written.split('-');
  const [from, to] = [readTime(start), end === '24:00' ? 0 : readTime(end)];
  return from === null || to === null || more.length > 0 ? null : { from, to };
}, 'must be two times of the day such as 20:00-08:00').refine(
  ({ from, to }) => from !== to,
  'must leave some time for mails: these are the whole day; without quietHours there are none',
);

/**
 * Whether a minute of the day (0 to 1439) is in the quiet hours: `from` inclusive, `to` exclusive; may span midnight.
 */
export function isQuiet(
  minute: number,
  { from, to }: { readonly from: number; readonly to: number },
): boolean {
  return from < to ? minute >= from && minute < to : minute >= from || minute < to;
}

/** Monday first. */
export const weekdayNames = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

export function parseWeekday(name: (typeof weekdayNames)[number]): Weekday {
  return (weekdayNames.indexOf(name) + 1) as Weekday;
}

/** A time of each day: always valid. */
const daily = /^[0-5]?\d ([01]?\d|2[0-3]) \* \* \*$/;
const cronAllowed =
  'must be a cron pattern of five fields: minute hour day-of-month month day-of-week, such as "0 2 * * *"; or every 5m, every 2h';

/** The plain form of a schedule. */
const everyForm = /^every\s+(\d{1,4})\s*([mh])$/i;
const everyAllowed = {
  m: [60, 'must divide an hour evenly: every 1m, 2m, 3m, 4m, 5m, 6m, 10m, 12m, 15m, 20m, 30m or 60m'],
  h: [24, 'must divide a day evenly: every 1h, 2h, 3h, 4h, 6h, 8h, 12h or 24h'],
} as const;

/** A schedule in one spelling: its fields, one blank between them. */
function inFields(pattern: string): readonly string[] {
  const [, count = '', unit = ''] = everyForm.exec(pattern.trim()) ?? [];
  if (count === '') return pattern.trim().split(/\s+/);
  const [n, isHours] = [Number(count), unit.toLowerCase() === 'h'];
  const step = n === 1 ? '*' : n === (isHours ? 24 : 60) ? '0' : `*/${n}`;
  return isHours ? ['0', step, '*', '*', '*'] : [step, '*', '*', '*', '*'];
}

function parseCron(pattern: string): CronParser.CronExpression {
  const { CronExpressionParser } = createRequire(import.meta.url)('cron-parser') as typeof CronParser;
  return CronExpressionParser.parse(pattern, { tz: 'UTC' });
}

/** Ms from one time of a schedule to the next, at the shortest. */
export function shortestGap(pattern: string): number {
  if (daily.test(pattern)) return unitMs.d;
  const times = parseCron(pattern).take(60);
  return Math.min(...times.slice(1).map((time, nth) => time.getTime() - (times[nth]?.getTime() ?? 0)));
}

/** A cron pattern of five fields, one blank between them, also of `every 5m`. Judged by the parser that BullMQ uses. */
export const schedule = text((pattern) => {
  const [, count = '', unit = ''] = everyForm.exec(pattern.trim()) ?? [];
  if (count !== '') {
    const [whole, allowed] = everyAllowed[unit.toLowerCase() === 'h' ? 'h' : 'm'];
    return whole % Number(count) === 0 ? null : allowed;
  }
  const fields = inFields(pattern);
  // The parser takes fewer fields too, and `H` as a random number that is another one in each process.
  if (fields.length !== 5 || fields.some((field) => /\bH\b/i.test(field))) return cronAllowed;
  if (daily.test(fields.join(' '))) return null;
  // Loaded only for other patterns: it brings many modules.
  try {
    parseCron(fields.join(' ')).next();
    return null;
  } catch {
    return `${cronAllowed}; this one is not valid or never comes`;
  }
}).transform((pattern) => inFields(pattern).join(' '));

/** Offsets such as `+02:00` know no summer time and are not taken. */
export const timeZone = text((name) => {
  try {
    if (/^[A-Za-z]/.test(name) && new Intl.DateTimeFormat('en', { timeZone: name })) return null;
  } catch {
    // No such zone: the message follows.
  }
  return `must be an IANA time zone such as Europe/Berlin or UTC${didYouMean(name, Intl.supportedValuesOf('timeZone'))}`;
});

/** The language of mails; which ones there are is a matter of templates. */
export const language = text((name) =>
  /^[A-Za-z]+(?:-[A-Za-z]+)*$/.test(name)
    ? null
    : 'must be en, de, or the name of a folder of templates: letters and hyphens, such as fr or pt-BR',
);

export const recipient = z
  .string()
  .refine(isEmailAddress, 'must be one e-mail address such as anna@example.com');

export const recipients = listOf(
  recipient,
  'must name at least one recipient',
  'must not name a recipient twice',
);

/** A display name that needs no encoding decision from us: quoted or plain, without line breaks and separators. */
// oxlint-disable-next-line no-control-regex -- a control character in a header is what must not pass
const named = /^(?:"[^"\\<>\x00-\x1f\x7f]+"|[^"\\<>,;:@\x00-\x1f\x7f]+?)\s*<([^<>]+)>$/;

export const sender = z
  .string()
  .refine(
    (written) => isEmailAddress(named.exec(written)?.[1] ?? written),
    'must be one e-mail address such as sales@example.com or Sales <sales@example.com>',
  );
