import { createRequire } from 'node:module';
import type * as CronParser from 'cron-parser';
import { didYouMean } from './nearest-name.ts';

/** A time of each day: always valid. */
const daily = /^[0-5]?\d ([01]?\d|2[0-3]) \* \* \*$/;

/** What is wrong with a cron pattern of five fields, or null. Judged by the parser that BullMQ uses. */
export function scheduleMistake(pattern: string): string | null {
  const allowed =
    'must be a cron pattern of five fields: minute hour day-of-month month day-of-week, such as "0 2 * * *"';
  const fields = pattern.trim().split(/\s+/);
  // The parser takes fewer fields too, and `H` as a random number that is another one in each process.
  if (fields.length !== 5 || fields.some((field) => /\bH\b/i.test(field))) return allowed;
  if (daily.test(fields.join(' '))) return null;
  // Loaded, with all that it needs, for those alone whose pattern is another one.
  const { CronExpressionParser } = createRequire(import.meta.url)('cron-parser') as typeof CronParser;
  try {
    CronExpressionParser.parse(fields.join(' '), { tz: 'UTC' }).next();
    return null;
  } catch {
    return `${allowed}; this one is not valid or never comes`;
  }
}

/** What is wrong with the name of a time zone, or null. Offsets such as `+02:00` know no summer time and are not taken. */
export function timeZoneMistake(name: string): string | null {
  if (isTimeZone(name)) return null;
  return `must be an IANA time zone such as Europe/Berlin or UTC${didYouMean(name, Intl.supportedValuesOf('timeZone'))}`;
}

function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
