import { html } from 'hono/html';
import { count, counted } from '../../core/lead/wording.ts';
import { plainCell } from '../../core/lead/value.ts';
import type { ListedAction } from '../../store/run-list.ts';
import type { Run } from '../../store/runs.ts';
import type { SyncReport } from '../../sync/report.ts';
import { describeProgress } from '../run-words.ts';
import { cards, factList, type Html, type Page, pageLinks, table } from './layout.ts';
import {
  asOf,
  foldedText,
  heldMessage,
  type Naming,
  placeWords,
  problemList,
  runKind,
  shownDuration,
  shownReceipt,
  shownStatus,
  shownTime,
  shownValue,
  writtenWords,
} from './shown.ts';

interface RunPage extends Naming {
  readonly run: Run;
  readonly actions: readonly ListedAction[];
  readonly problemsFrom: number;
  readonly isFirst: boolean;
  /** Address of the next page of changes. */
  readonly next: string | null;
  readonly now: number;
}

export const problemsShown = 50;

/** `/runs/ID`: counts, receipt, problems, and the changes field by field. */
export function runPage(page: RunPage): Page {
  const { run, timeZone, actions, isFirst, next, now } = page;
  const path = `/runs/${run.id}`;
  // It compares nothing.
  const isEdit = run.mode === 'edit';
  const report = run.report === null ? null : (run.report as SyncReport);
  const body = html`<p><a href="/connections/${run.connection}">${run.connection}</a>: ${runKind({ ...run, isApplied: run.approval !== null })}. ${shownStatus(run.status)}</p>
${asOf(now, [page.timeZone])}
${factList([
  ['Began', shownTime(run.createdAt, timeZone)],
  [
    'Ended',
    run.finishedAt === null
      ? `not yet: ${describeProgress(run)}`
      : html`${shownTime(run.finishedAt, timeZone)}, took ${shownDuration(run.finishedAt - run.createdAt)}`,
  ],
  ['Read', isEdit ? null : `${counted(run.pulled, 'lead')}, ${counted(run.targetRows, 'row')}`],
  [
    'Table',
    run.tableReadAt &&
      html`unchanged since it was read in full, ${shownTime(Date.parse(run.tableReadAt), timeZone)}`,
  ],
  ['Written', report && writtenWords(report)],
  ['Receipt', isEdit ? null : report && shownReceipt(report)],
  ['Requests', `${count(run.leadRequests)} to the service, ${count(run.targetRequests)} to the table`],
  ['Waited', run.waitedMs > 0 ? shownDuration(run.waitedMs) : null],
])}
${problemsSection(page, report, path)}
<h2 id="changes">Changes</h2>
${actions.length === 0 ? html`<p>${isFirst ? 'None.' : 'No further ones.'}</p>` : cards(actions.map((action) => actionCard(action, page)))}
${pageLinks(isFirst ? null : `${path}#changes`, next, 'changes')}`;
  return { title: `Run ${run.id}`, body };
}

function problemsSection(page: RunPage, report: SyncReport | null, path: string): Html | null {
  const { run, problemsFrom } = page;
  const problems = report?.problems ?? run.problems;
  if (problems.length === 0) return null;
  const shown = problems.slice(problemsFrom, problemsFrom + problemsShown);
  const end = problemsFrom + problemsShown;
  return html`<h2 id="problems">Problems</h2>
<p class="hint">${shown.length === 0 ? 'No further ones' : `${count(problemsFrom + 1)} to ${count(problemsFrom + shown.length)}`} of ${count(problems.length)}</p>
${problemList(shown, page)}
${pageLinks(problemsFrom === 0 ? null : `${path}#problems`, end < problems.length ? `${path}?problems=${end}#problems` : null, 'problems')}`;
}

const kindWords: Readonly<Record<ListedAction['kind'], string>> = {
  'create-row': 'New row',
  'update-row': 'Row changed',
  'mark-row': 'Row marked as deleted',
  'remove-row': 'Row removed',
  'create-lead': 'New lead',
  'update-lead': 'Lead changed',
  'delete-lead': 'Lead deleted',
  hold: 'Held',
  link: 'Id written into the row',
  unlink: 'Id removed from the row',
  agree: 'Both sides agree',
  forget: 'Gone on both sides',
  report: 'Left as it is',
};

const stateWords: Readonly<Record<ListedAction['state'], string>> = {
  planned: 'planned, not carried out',
  'left-out': 'not in the reviewed plan',
  proven: 'planned, not carried out',
  done: 'done',
  deferred: 'put off to the next run',
  held: 'held',
};

function actionCard(action: ListedAction, { columns, companies, timeZone }: RunPage): Html {
  const { id, kind, leadId, row, changes, reason, state, message } = action;
  const company = companies.get(leadId ?? '') ?? nameWritten(changes);
  const place = placeWords(row, undefined, leadId);
  const outcome = kind !== 'hold' && `${stateWords[state]}, `;
  const columnHeads =
    kind === 'hold' ? ['Field', 'In the service', 'In the table'] : ['Field', 'Before', 'After'];
  const rows = Object.entries(changes).map(([field, { from, to }]) => [
    columns.get(field) ?? field,
    shownValue(from, timeZone),
    shownValue(to, timeZone),
  ]);
  return html`<article class="card">
<h3>${company !== null && html`${foldedText(company)}: `}${kindWords[kind]}</h3>
<p class="hint">${place}${place !== '' && ', '}${outcome}<code>${reason}</code></p>
${message !== null && html`<p>${heldMessage(reason, message, timeZone)}</p>`}
${rows.length > 0 && table('values', `Fields of change ${id}`, columnHeads, rows)}
</article>`;
}

/** The name of a record without a baseline. */
function nameWritten({ companyName }: ListedAction['changes']): string | null {
  return companyName === undefined ? null : plainCell(companyName.to ?? companyName.from);
}
