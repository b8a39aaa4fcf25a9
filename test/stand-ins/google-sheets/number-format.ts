import type { sheets_v4 } from '@googleapis/sheets';
import { localeRules } from './locale-rules.ts';

const dayMs = 86_400_000;
const epochMs = Date.UTC(1899, 11, 30);

const dateTypes: readonly unknown[] = ['DATE', 'TIME', 'DATE_TIME'];

/** Whether this format shows numbers as dates or times. */
export function isDateFormat(format: sheets_v4.Schema$NumberFormat | null | undefined): boolean {
  return dateTypes.includes(format?.type);
}

/** A number as displayed. */
export function showNumber(
  value: number,
  format: sheets_v4.Schema$NumberFormat | null | undefined,
  locale: string,
): string {
  if (!isDateFormat(format)) return showPlainNumber(value, format, locale);
  const rules = localeRules(locale);
  const patterns = { DATE: rules.datePattern, TIME: 'H:mm:ss', DATE_TIME: rules.dateTimePattern };
  const fallback = Object.entries(patterns).find(([type]) => type === format?.type)?.[1];
  return showDate(value, format?.pattern || fallback || rules.datePattern, locale);
}

function showPlainNumber(
  value: number,
  format: sheets_v4.Schema$NumberFormat | null | undefined,
  locale: string,
): string {
  const pattern = format?.pattern ?? (format?.type === 'PERCENT' ? '0.00%' : '');
  const { decimal } = localeRules(locale);
  if (!/[0#]/.test(pattern)) return general(value).replace('.', decimal);
  const percent = pattern.includes('%');
  const places = /\.([0#]+)/.exec(pattern)?.[1] ?? '';
  const shown = new Intl.NumberFormat(locale.replaceAll('_', '-'), {
    useGrouping: /,[0#]{3}/.test(pattern),
    minimumFractionDigits: places.replaceAll('#', '').length,
    maximumFractionDigits: places.length,
    minimumIntegerDigits: Math.max(1, (/^[#,]*(0*)/.exec(pattern)?.[1] ?? '').length),
  }).format(percent ? value * 100 : value);
  return percent ? `${shown}%` : shown;
}

/** Without a format: ten significant digits, large numbers with an exponent. */
function general(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  const short = Number(value.toPrecision(10));
  if (Math.abs(short) >= 1e-5 && Math.abs(short) < 1e15) return String(short);
  const [digits = '', exponent = ''] = value.toExponential(5).split('e');
  const power = exponent.replace(/^([+-])(\d)$/, '$10$2');
  return `${String(Number(digits))}E${power}`;
}

const tokens = /"[^"]*"|\\.|y+|m+|d+|h+|s+|\.0+|am\/pm|a\/p|./gi;

function showDate(serial: number, pattern: string, locale: string): string {
  const exact = /\.0/.test(pattern);
  const unit = exact ? 1 : 1000;
  const at = new Date(epochMs + Math.round((serial * dayMs) / unit) * unit);
  const parts = pattern.match(tokens) ?? [];
  const half = parts.some((part) => /^a(?:m\/pm|\/p)$/i.test(part));
  const codes = parts.map((part) => (/^[ymdhs]/i.test(part) ? (part[0] ?? '').toLowerCase() : ''));
  return parts
    .map((part, index) => {
      const before = codes.slice(0, index).findLast((code) => code !== '');
      const after = codes.slice(index + 1).find((code) => code !== '');
      const minutes = codes[index] === 'm' && (before === 'h' || after === 's');
      return datePart(part, minutes ? 'minute' : (codes[index] ?? ''), at, half, locale);
    })
    .join('');
}

function datePart(part: string, code: string, at: Date, half: boolean, locale: string): string {
  const pad = (value: number): string => String(value).padStart(Math.min(part.length, 2), '0');
  const named = (options: Intl.DateTimeFormatOptions): string =>
    at.toLocaleDateString(locale.replaceAll('_', '-'), { ...options, timeZone: 'UTC' });
  switch (code) {
    case 'y':
      return part.length <= 2 ? pad(at.getUTCFullYear() % 100) : String(at.getUTCFullYear()).padStart(4, '0');
    case 'm':
      if (part.length < 3) return pad(at.getUTCMonth() + 1);
      return named({ month: part.length === 3 ? 'short' : 'long' });
    case 'd':
      if (part.length < 3) return pad(at.getUTCDate());
      return named({ weekday: part.length === 3 ? 'short' : 'long' });
    case 'h':
      return pad(half ? at.getUTCHours() % 12 || 12 : at.getUTCHours());
    case 'minute':
      return pad(at.getUTCMinutes());
    case 's':
      return pad(at.getUTCSeconds());
    default:
      if (part.startsWith('.0'))
        return `.${String(at.getUTCMilliseconds())
          .padStart(3, '0')
          .slice(0, part.length - 1)}`;
      if (/^a(?:m\/pm|\/p)$/i.test(part)) return at.getUTCHours() < 12 ? 'AM' : 'PM';
      return part.replace(/^"(.*)"$|^\\(.)$/s, '$1$2');
  }
}
