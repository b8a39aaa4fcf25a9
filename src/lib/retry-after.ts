/** The longest wait (ms), a day, whatever a service asks for. */
export const longestWaitMs = 24 * 3_600_000;

const longestBackoffMs = 60_000;

/** The three forms of a date in HTTP (RFC 9110, section 5.6.7). All are UTC, though asctime's does not say so. */
const weekday = 'Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun';
const httpDate = new RegExp(String.raw`^(?:${weekday})(?:day)?,? .*\d\d:\d\d:\d\d`);

/** One value of those that a proxy has joined by commas: a date has one itself. */
const oneValue = new RegExp(String.raw`\s*(?:${weekday})(?:day)?,? [^,]*|[^,]+`, 'g');

/**
 * How long a reply asks to wait: the Retry-After header as seconds (API reference, section 8; decimals are rounded up)
 * or as an HTTP date. A date counts from the reply's own Date header when it has one, since the service's clock and
 * ours may differ; else from `receivedAt`. Of several values, also of those that a proxy has joined (`4, 7`), the longest counts.
 * Returns milliseconds, at most `longestWaitMs`, or null when the header is missing or senseless (not above zero, no number).
 */
export function retryAfterMs(
  header: string | readonly string[] | undefined,
  dateHeader: string | readonly string[] | undefined,
  receivedAt: number,
): number | null {
  const values = header === undefined ? [] : typeof header === 'string' ? [header] : header;
  const date = parseHttpDate(String(dateHeader));
  const since = Number.isNaN(date) ? receivedAt : date;
  const single = values.flatMap((value) => value.match(oneValue) ?? []);
  const waits = single
    .map((value) => waitMs(value.replace(/;.*$/s, '').trim(), since))
    .filter((ms) => ms > 0);
  return waits.length === 0 ? null : Math.min(longestWaitMs, Math.max(...waits));
}

function waitMs(value: string, since: number): number {
  if (/^\d+(?:\.\d+)?$/.test(value)) return Math.ceil(Number(value)) * 1000;
  return parseHttpDate(value) - since;
}

/** Epoch ms, or NaN. The form is checked first: Date.parse takes almost anything, such as "-5", for a date. */
export function parseHttpDate(value: string): number {
  if (!httpDate.test(value)) return Number.NaN;
  return Date.parse(value.endsWith('GMT') ? value : `${value} GMT`);
}

/**
 * How long to wait in ms after the given number of 429 in a row (from 1) without a usable Retry-After: 1 s, doubling
 * up to 60 s, less up to a quarter at random. `random` returns 0 to 1.
 */
export function backoffMs(consecutive: number, random: () => number): number {
  const whole = Math.min(longestBackoffMs, 1000 * 2 ** (consecutive - 1));
  return Math.round(whole * (1 - random() / 4));
}
