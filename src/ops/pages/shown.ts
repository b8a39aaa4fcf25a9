import { html } from 'hono/html';
import { count, counted } from '../../core/lead/wording.ts';
import { dayOf } from '../../core/lead/instant.ts';
import { formatsOf, shownDates } from '../../core/lead/shown-date.ts';
import { type Cell, isUnreadable, plainCell } from '../../core/lead/value.ts';
import type { Problem } from '../../lib/errors.ts';
import { visibleText } from '../../lib/foreign-text.ts';
import { unsaidPlaces, describeVerification } from '../run-words.ts';
import type { Html } from './layout.ts';
import type { ListedRun } from '../../store/run-list.ts';
import type { RunStatus } from '../../store/runs.ts';
import type { SyncReport } from '../../sync/report.ts';

const formatOf = formatsOf({
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
});

/** A moment (epoch ms, or an ISO instant) in a time zone, with the zone's name, and as an ISO instant for programs. */
export function shownTime(at: number | string, timeZone: string): Html {
  const date = new Date(at);
  return html`<time datetime="${date.toISOString()}">${formatOf(timeZone).format(date)}</time>`;
}

const days = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'UTC',
  year: 'numeric',
  month: 'short',
  day: 'numeric',
});

/** When a follow-up is due (epoch ms, or an ISO instant): as `shownTime`, or a day without a time. */
export function shownDue(at: number | string, timeZone: string): Html {
  const day = dayOf(new Date(at).getTime(), timeZone);
  return day === null
    ? shownTime(at, timeZone)
    : html`<time datetime="${day}">${days.format(Date.parse(day))}</time>`;
}

/** When the page was made, and a link that refreshes it without a script. In the zone of all that it shows, if of one. */
export function asOf(now: number, zones: readonly string[]): Html {
  const [zone, ...others] = new Set(zones);
  const timeZone = zone === undefined || others.length > 0 ? 'UTC' : zone;
  return html`<p class="hint">As of ${shownTime(now, timeZone)}. <a href="">Refresh</a></p>
<p class="hidden" role="status" id="live"></p>`;
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

/** Characters of a folded value; a click opens the rest, … */
const shownLength = 160;
/** … up to this length: no page grows without bounds. */
const wholeLength = 50_000;

/** A value of a field, exactly as it is but for dates; isolated: right-to-left text moves nothing around it. */
export function shownValue(cell: Cell | undefined, timeZone: string): Html {
  if (cell === undefined || cell === null || cell === '') return html`<span class="none">(empty)</span>`;
  const mark = isUnreadable(cell) && html` <span class="none">(not understood)</span>`;
  return html`${foldedText(shownDates(plainCell(cell) ?? '', timeZone), 'value')}${mark}`;
}

/** A text from outside, folded when it is long. */
export function foldedText(text: string, look = 'text'): Html {
  if (text.length <= shownLength) return html`<bdi class="${look}">${text}</bdi>`;
  const { length } = text;
  const all = length <= wholeLength ? 'all' : `the first ${count(wholeLength)} of`;
  return html`<details><summary><bdi class="${look}">${visibleText(text, shownLength)}</bdi> <span class="hint">${all} ${count(length)} characters</span></summary><bdi class="${look}">${text.slice(0, wholeLength).toWellFormed()}</bdi></details>`;
}

export function shownLead(company: string | null | undefined, leadId: string): Html | string {
  return company ? foldedText(company) : `lead ${leadId}`;
}

/** Where a record is: `row 7, berlin, lead 0193…`. */
export function placeWords(
  row: number | null | undefined,
  between: string | undefined,
  leadId: string | null | undefined,
): string {
  const parts = [typeof row === 'number' && `row ${row}`, between, leadId && `lead ${leadId}`];
  return parts.filter(Boolean).join(', ');
}

/** What people call things: names by lead id, headings by field. `timeZone`: of dates. */
export interface Naming {
  readonly companies: ReadonlyMap<string, string>;
  readonly columns: ReadonlyMap<string, string>;
  readonly timeZone: string;
}

/** Problems of a run, each with its place, as far as its sentence does not have it, and its code. */
export function problemList(problems: readonly Problem[], { companies, columns, timeZone }: Naming): Html {
  return html`<ul class="problems">
${problems.map((problem) => {
  const { code, message, leadId = '', field = '' } = problem;
  const company = companies.get(leadId);
  const place = unsaidPlaces(problem, company, columns.get(field) ?? field).join(', ');
  return html`<li>${company !== undefined && html`<strong>${foldedText(company)}</strong>: `}${foldedText(shownDates(message, timeZone))} <span class="hint">${place}${place !== '' && ' '}<code>${code}</code></span></li>\n`;
})}</ul>`;
}

/** In place of messages that repeat both values. */
const briefly: Readonly<Record<string, string>> = {
  'conflict.both-edited': 'Edited on both sides, differently.',
  'conflict.first-sight': 'The two sides differed when they were compared for the first time.',
};

/** Why an item is held, beside its two values. */
export function heldMessage(code: string, message: string, timeZone: string): Html | string {
  return briefly[code] ?? foldedText(shownDates(message, timeZone));
}

const words: Readonly<Record<RunStatus, readonly [mark: string, word: string, look: string]>> = {
  succeeded: ['✓', 'succeeded', 'good'],
  partial: ['!', 'done, but something is held or put off', 'warn'],
  stopped: ['■', 'stopped by a guard: a person is needed', 'bad'],
  failed: ['✕', 'failed', 'bad'],
  running: ['…', 'running', 'info'],
};

export function shownStatus(status: RunStatus): Html {
  const [mark, word, look] = words[status];
  return html`<span class="status ${look}"><span aria-hidden="true">${mark}</span> ${word}</span>`;
}

export function lookOf(status: RunStatus): string {
  return words[status][2];
}

export function runKind({
  mode,
  undoOf,
  isApplied,
}: Pick<ListedRun, 'mode' | 'undoOf' | 'isApplied'>): string {
  if (mode === 'plan') return undoOf === null ? 'plan' : `plan to undo run ${undoOf}`;
  if (mode === 'edit') return 'requested edits';
  if (undoOf !== null) return `undo of run ${undoOf}`;
  return isApplied ? 'reviewed plan' : 'sync';
}

export function writtenWords({ created, updated, deleted }: SyncReport): string {
  const parts = [
    [created.leads, 'lead', 'created'],
    [created.rows, 'row', 'created'],
    [updated.leads, 'lead', 'changed'],
    [updated.rows, 'row', 'changed'],
    [deleted.leads, 'lead', 'deleted'],
    [deleted.rows, 'row', 'removed'],
  ] as const;
  const shown = parts.filter(([number]) => number > 0);
  return (
    shown.map(([number, what, done]) => `${counted(number, what)} ${done}`).join(', ') ||
    'nothing was written'
  );
}

/** The receipt of a run that ended; of one that ended before it, what it compared. */
export function shownReceipt(report: SyncReport): string {
  const { pulled, targetRows, receipt, status } = report;
  if (receipt.records === 0 && pulled + targetRows === 0) return 'the run ended before it read anything';
  const read = `${counted(pulled, 'lead')} and ${counted(targetRows, 'row')}`;
  if (receipt.records === 0)
    return status === 'stopped'
      ? `${read} were compared; the run stopped before it wrote anything`
      : `${read} were read; the run ended before it wrote anything`;
  return describeVerification(report);
}
