import { html } from 'hono/html';
import { counted } from '../../core/lead/counted.ts';
import type { ListedRun } from '../../store/run-list.ts';
import type { RunStatus } from '../../store/runs.ts';
import type { SyncReport } from '../../sync/report.ts';
import { describeVerification } from '../describe-progress.ts';
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
  if (mode === 'edit') return 'requested edits';
  if (undoOf !== null) return `undo of run ${undoOf}`;
  return isApplied ? 'reviewed plan' : 'sync';
}

/** What a run wrote, in one line without zeros. */
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
