import type { sheets_v4 } from '@googleapis/sheets';
import { errorNamed } from './cell-error.ts';
import { localeRules, type LocaleRules } from './locale-rules.ts';
import type { Entered } from './sheet-state.ts';

/** The value of a typed text, and the number format it gives a cell without one. */
export interface Typed {
  readonly entered: Entered;
  readonly numberFormat: sheets_v4.Schema$NumberFormat | null;
}

const dayMs = 86_400_000;
/** Day 0 of the serial numbers: 1899-12-30, in epoch ms. */
const epochMs = Date.UTC(1899, 11, 30);

/**
 * Interprets a typed text as Sheets does (USER_ENTERED): a formula, a boolean, a number, a date or time, or text. A
 * leading apostrophe keeps it text. `today` (epoch ms): the year of dates without one.
 */
export function readTyped(text: string, locale: string, today: number): Typed {
  if (text.startsWith("'")) return plain(text.slice(1));
  if (text.startsWith('=') && text.length > 1) return plain({ formula: text });
  const error = errorNamed(text.trim());
  if (error !== null) return plain(error);
  const rules = localeRules(locale);
  const trimmed = text.trim();
  if (/^(?:true|false)$/i.test(trimmed)) return plain(trimmed.toLowerCase() === 'true');
  const number = readNumber(trimmed, rules);
  if (number !== null) return number;
  const date = readDate(trimmed, rules, today);
  if (date !== null) return date;
  // A sign begins a formula: this is why a typed telephone number shows #ERROR!.
  return plain(/^\+./.test(text) ? { formula: `=${text}` } : text);
}

function plain(entered: Entered): Typed {
  return { entered: entered === '' ? null : entered, numberFormat: null };
}

function readNumber(text: string, rules: LocaleRules): Typed | null {
  const [decimal, group] = [escape(rules.decimal), escape(rules.group)];
  const digits = String.raw`(?:\d{1,3}(?:${group}\d{3})+|\d+)(?:${decimal}\d*)?|${decimal}\d+`;
  const match = new RegExp(String.raw`^([+-]?(?:${digits})(?:[eE][+-]?\d+)?)\s?(%?)$`).exec(text);
  if (match === null) return null;
  const value = Number((match[1] ?? '').replaceAll(rules.group, '').replace(rules.decimal, '.'));
  if (!Number.isFinite(value)) return null;
  if (match[2] === '%') {
    const pattern = text.includes(rules.decimal) ? '0.00%' : '0%';
    return { entered: value / 100, numberFormat: { type: 'PERCENT', pattern } };
  }
  return plain(value);
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

const clock = String.raw`(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,3}))?)?(?:\s*([AaPp])\.?[Mm]\.?)?`;
const timeOnly = new RegExp(`^${clock}$`);
const isoDate = new RegExp(String.raw`^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?:[T\s]+(${clock}))?$`);
const localDate = new RegExp(
  String.raw`^(\d{1,2})([-/.])(\d{1,2})(?:\2(\d{4}|\d{2}))?\.?(?:,?\s+(${clock}))?$`,
);

function readDate(text: string, rules: LocaleRules, today: number): Typed | null {
  const time = timeOfDay(text);
  if (time !== null) {
    return { entered: time, numberFormat: { type: 'TIME', pattern: 'H:mm:ss' } };
  }
  const iso = isoDate.exec(text);
  if (iso !== null) {
    const day = serialDay(Number(iso[1]), Number(iso[3]), Number(iso[4]));
    return dated(day, iso[5], 'yyyy-mm-dd', 'yyyy-mm-dd hh:mm:ss');
  }
  const local = localDate.exec(text);
  // Dots separate a date only in locales that write it so.
  if (local === null || (local[2] === '.' && !rules.datePattern.includes('.'))) return null;
  const order = rules.order.filter((part) => part !== 'year');
  const [first, second] = [Number(local[1]), Number(local[3])];
  const [day, month] = order[0] === 'day' ? [first, second] : [second, first];
  const serial = serialDay(fullYear(local[4], today), month, day);
  return dated(serial, local[5], rules.datePattern, rules.dateTimePattern);
}

function dated(
  day: number | null,
  clockText: string | undefined,
  datePattern: string,
  dateTimePattern: string,
): Typed | null {
  if (day === null) return null;
  if (clockText === undefined) return { entered: day, numberFormat: { type: 'DATE', pattern: datePattern } };
  const time = timeOfDay(clockText);
  if (time === null) return null;
  return { entered: day + time, numberFormat: { type: 'DATE_TIME', pattern: dateTimePattern } };
}

/** As a fraction of a day. */
function timeOfDay(text: string): number | null {
  const match = timeOnly.exec(text);
  if (match === null) return null;
  const [, hourText, minute, second = '0', fraction = '', half] = match;
  let hour = Number(hourText);
  if (half !== undefined) hour = (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  if (hour > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const ms = ((hour * 60 + Number(minute)) * 60 + Number(second)) * 1000 + Number(fraction.padEnd(3, '0'));
  return ms / dayMs;
}

function serialDay(year: number, month: number, day: number): number | null {
  const at = new Date(Date.UTC(year, month - 1, day));
  if (at.getUTCMonth() !== month - 1 || at.getUTCDate() !== day) return null;
  return (at.getTime() - epochMs) / dayMs;
}

function fullYear(text: string | undefined, today: number): number {
  if (text === undefined) return new Date(today).getUTCFullYear();
  if (text.length === 4) return Number(text);
  return Number(text) + (Number(text) < 30 ? 2000 : 1900);
}
