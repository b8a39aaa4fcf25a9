import { html } from 'hono/html';
import { count, counted } from '../../core/lead/counted.ts';
import type { ListedRun } from '../../store/run-list.ts';
import type { RunStatus } from '../../store/runs.ts';
import type { SyncReport } from '../../sync/report.ts';
import type { Html } from './elements.ts';

const words: Readonly<Record<RunStatus, readonly [mark: string, word: string, look: string]>> = {
  succeeded: ['✓', 'succeeded', 'good'],
  partial: ['!', 'done, but something is held or put off', 'warn'],
  stopped: ['■', 'stopped by a guard: a person is needed', 'bad'],
  failed: ['✕', 'failed', 'bad'],
  running: ['…', 'running', 'info'],
};

/** The status of a run in words, with its colour and sign. */
export function shownStatus(status: RunStatus): Html {
  const [mark, word, look] = words[status];
  return html`<span class="status ${look}"><span aria-hidden="true">${mark}</span> ${word}</span>`;
}

/** The colour of a status. */
export function lookOf(status: RunStatus): string {
  return words[status][2];
}

/** The kind of a run. */
export function runKind({
  mode,
  undoOf,
  isApplied,
}: Pick<ListedRun, 'mode' | 'undoOf' | 'isApplied'>): string {
  if (mode === 'plan') return undoOf === null ? 'plan' : `plan to undo run ${undoOf}`;
  if (undoOf !== null) return `undo of run ${undoOf}`;
  return isApplied ? 'reviewed plan' : 'sync';
}

/** What a run wrote, in one line without zeros. */
export function writtenWords({ created, updated, deleted }: SyncReport): string {
  const parts = [
    [created.leads, 'lead', 'made'],
    [created.rows, 'row', 'made'],
    [updated.leads, 'lead', 'changed'],
    [updated.rows, 'row', 'changed'],
    [deleted.leads, 'lead', 'deleted'],
    [deleted.rows, 'row', 'taken away'],
  ] as const;
  const said = parts.flatMap(([number, what, deed]) =>
    number > 0 ? [`${counted(number, what)} ${deed}`] : [],
  );
  return said.length === 0 ? 'nothing was written' : said.join(', ');
}

/** The outcome of the records, in one line. A run of an older version has no receipt. */
export function receiptWords({ receipt, undoOf }: SyncReport): string | null {
  if ((receipt as SyncReport['receipt'] | undefined) === undefined) return null;
  const { records, equal, held, putOff, left, unexplained } = receipt;
  if (records === 0) return 'the run ended before it compared anything';
  const whole = undoOf === undefined ? 'records equal on both sides' : 'writes put back';
  const rest = [
    held > 0 && `${count(held)} held`,
    putOff > 0 && `${count(putOff)} put off`,
    left > 0 && `${count(left)} left as they are`,
    unexplained > 0 && `${count(unexplained)} do not show what was written`,
  ].filter((part) => part !== false);
  return [`${count(equal)} of ${count(records)} ${whole}`, ...rest].join(', ');
}
