import { html } from 'hono/html';
import type { Html } from './layout.ts';

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  });
  formats.set(timeZone, format);
  return format;
}

/** A moment (epoch ms) in a time zone, with the zone's name, and as an ISO instant for programs. */
export function shownTime(at: number, timeZone: string): Html {
  const date = new Date(at);
  return html`<time datetime="${date.toISOString()}">${formatOf(timeZone).format(date)}</time>`;
}

const steps = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' });

/** The distance of a moment (epoch ms) from now: `3 hours ago`, `in 5 minutes`. */
export function shownAge(at: number, now: number): string {
  const distance = at - now;
  const [unit, ms] = steps.find(([, ms]) => Math.abs(distance) >= ms) ?? ['second', 1_000];
  return relative.format(Math.trunc(distance / ms), unit);
}

/** A duration (ms): `2 h 5 min`, `3.2 s`. */
export function shownDuration(ms: number): string {
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.round(ms / 60_000);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
