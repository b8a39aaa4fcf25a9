/** Creating a format is a hundred times slower than using it: one for each IANA zone, made when it is first used. */
export function formatsOf(options: Intl.DateTimeFormatOptions): (timeZone: string) => Intl.DateTimeFormat {
  const formats = new Map<string, Intl.DateTimeFormat>();
  return (timeZone) => {
    const known = formats.get(timeZone);
    if (known !== undefined) return known;
    const format = new Intl.DateTimeFormat('en-GB', { ...options, timeZone, timeZoneName: 'short' });
    formats.set(timeZone, format);
    return format;
  };
}

/** By Intl alone: commands that show a few dates start without the code that calculates with them. */
const formatOf = formatsOf({
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
});

function partsOf(at: number, timeZone: string): Readonly<Record<string, string>> {
  const parts = formatOf(timeZone).formatToParts(at);
  return Object.fromEntries(parts.map(({ type, value }) => [type, value]));
}

const dateOf = ({ year = '', month, day }: Readonly<Record<string, string>>): string =>
  `${year.padStart(4, '0')}-${month}-${day}`;

/**
 * A moment (epoch ms) on the clocks of an IANA zone, with the zone's name: `2026-12-04 09:30 CET`; seconds and fractions
 * only where there are any.
 */
function momentText(at: number, timeZone: string): string {
  const parts = partsOf(at, timeZone);
  const { hour, minute, second, fractionalSecond, timeZoneName } = parts;
  const fraction = fractionalSecond === '000' ? '' : `.${fractionalSecond}`;
  const rest = second === '00' && fraction === '' ? '' : `:${second}${fraction}`;
  return `${dateOf(parts)} ${hour}:${minute}${rest} ${timeZoneName}`;
}

/** When something happened (epoch ms, or an ISO instant), to the second. */
export function shownMoment(at: number | string, timeZone: string): string {
  return momentText(Math.floor(new Date(at).getTime() / 1_000) * 1_000, timeZone);
}

const instants = /\b[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d(?<value>\.\d{3})?Z\b/g;

/**
 * A text for people, in which canonical instants are dates as people write them: a day (`dayOf`) as `2026-12-04`, any other
 * moment on the clocks of the zone. An instant to the second is always a moment.
 */
export function shownDates(text: string, timeZone: string): string {
  return text.replaceAll(instants, (iso: string, value: string | undefined) => {
    const at = Date.parse(iso);
    if (Number.isNaN(at)) return iso;
    if (value === undefined) return momentText(at, timeZone);
    const date = dateOf(partsOf(at, timeZone));
    return date > dateOf(partsOf(at - 1, timeZone)) ? date : momentText(at, timeZone);
  });
}
