import { html } from 'hono/html';
import type { Decision } from '../../store/decisions.ts';
import type { ListedReminder } from '../../store/reminders.ts';
import type { ListedRun } from '../../store/run-list.ts';
import type { WaitingDelete } from '../../store/waiting-deletes.ts';
import { type ConnectionFacts, namesShown } from '../connection-facts.ts';
import { connectionButtons } from './connection-buttons.ts';
import { conflictList, type ShownConflict } from './conflict-list.ts';
import { pages } from './conflicts.ts';
import { connectionFactList, progressLine } from './facts.ts';
import { decisionWords } from './decided.ts';
import { type Html, layout, type Menu } from './layout.ts';
import { asOf } from './overview.ts';
import { problemList } from './problem-list.ts';
import { durationOf, runChart } from './run-chart.ts';
import { runKind, shownStatus } from './run-words.ts';
import { shownDuration, shownTime } from './shown-time.ts';
import { count } from '../../core/lead/counted.ts';
import { foldedText } from './shown-value.ts';

/** A reminder with the name of its lead's company. */
type NamedReminder = ListedReminder & { readonly company: string | null };

export interface ConnectionPage {
  readonly facts: ConnectionFacts;
  readonly deletes: readonly WaitingDelete[];
  /** The oldest ones. */
  readonly conflicts: readonly ShownConflict[];
  readonly runs: readonly ListedRun[];
  readonly isFirst: boolean;
  readonly next: string | null;
  readonly coming: readonly NamedReminder[];
  /** Failed and missed. */
  readonly failed: readonly NamedReminder[];
  /** Headings by field. */
  readonly columns: ReadonlyMap<string, string>;
  /** The newest ones, with company names. */
  readonly decisions: readonly (Decision & { readonly company: string | null })[];
  /** Whether a sync waits in the queue. */
  readonly isAsked: boolean;
  readonly now: number;
}

const problemsShown = 10;

/** Runs on one page of their list. */
export const runsShown = 30;

/** `/connections/NAME`: the state of a connection. */
export function connectionPage(page: ConnectionPage, menu: Menu): Html {
  const { facts, conflicts, now } = page;
  const { connection, lastRun, held } = facts.status;
  const body = html`<p>${lastRun === null ? html`<span class="status info">never synced</span>` : shownStatus(lastRun.status)}</p>
${asOf(now)}
${progressLine(facts)}
${page.isAsked ? html`<p class="progress"><strong>Waiting</strong> A sync starts as soon as a worker is free.</p>` : ''}
${connectionButtons(facts.status, page.isAsked)}
${connectionFactList(facts, now)}
${runChart(page.runs, runsShown)}
${
  lastRun === null || lastRun.problems.length === 0
    ? ''
    : html`<h2>Problems of the last run</h2>
${problemList(lastRun.problems.slice(0, problemsShown), facts.companies)}
${lastRun.problems.length > problemsShown ? html`<p><a href="/runs/${lastRun.runId}#problems">All ${count(lastRun.problems.length)} problems</a></p>` : ''}`
}
<h2 id="conflicts">Conflicts</h2>
${conflicts.length === 0 ? html`<p>Nothing is held.</p>` : conflictList(conflicts, `/connections/${connection}`)}
${held > conflicts.length ? html`<p><a href="/conflicts?connection=${connection}">All ${count(held)} held items</a></p>` : ''}
${decisionList(page)}
<h2 id="deletes">Deletes waiting</h2>
${deletesSection(page)}
<h2 id="reminders">Reminders</h2>
${reminders(page)}
<h2 id="runs">Runs</h2>
${runTable(page)}
${pages(page.isFirst ? null : `/connections/${connection}#runs`, page.next, 'runs')}`;
  return layout({ title: `Connection ${connection}`, body, menu });
}

function deletesSection({ facts, deletes }: ConnectionPage): Html {
  const { deletesWaiting, status, companies } = facts;
  const { deletedLeads } = status;
  const more = deletesWaiting - deletes.length;
  return html`${
    deletes.length === 0
      ? html`<p>None: nothing is missing on either side.</p>`
      : html`<p>Missing in the last scans. Nothing is deleted before two complete scans and, of a lead, a “not found” of the service.</p>
<ul>${deletes.map(({ leadId, company, missing, scans }) => html`<li>${nameOf(company, leadId)}: the ${missing} is missing in ${count(scans)} ${scans === 1 ? 'scan' : 'scans'}</li>\n`)}</ul>
${more > 0 ? html`<p>and ${count(more)} more</p>` : ''}`
  }
${
  deletedLeads.length === 0
    ? ''
    : html`<h3 id="deleted">Deleted in the service, rows kept</h3>
<ul class="ids">${deletedLeads.slice(0, namesShown).map((id) => html`<li>${nameOf(companies.get(id), id)}</li>\n`)}</ul>
${deletedLeads.length > namesShown ? html`<p>and ${count(deletedLeads.length - namesShown)} more</p>` : ''}`
}`;
}

/** The company, and the id to distinguish two of one name. */
function nameOf(company: string | null | undefined, leadId: string): Html {
  return html`${company ? html`${foldedText(company)}, ` : ''}<span class="hint">lead ${leadId}</span>`;
}

function decisionList({ decisions, columns, facts: { timeZone } }: ConnectionPage): Html | '' {
  if (decisions.length === 0) return '';
  return html`<h3 id="decisions">Decided last</h3>
<ul>${decisions.map((one) => html`<li>${one.company === null ? `lead ${one.leadId}` : html`<strong>${foldedText(one.company)}</strong>`}: ${decisionWords(one, columns)}, by <bdi>${one.by}</bdi>, ${shownTime(Date.parse(one.at), timeZone)}</li>\n`)}</ul>`;
}

function reminders({ facts, coming, failed }: ConnectionPage): Html {
  const { status, timeZone } = facts;
  const more = status.reminders.coming - coming.length;
  const line = (item: NamedReminder): Html =>
    html`${shownTime(item.sendAt, timeZone)}: ${item.company === null ? `lead ${item.leadId}` : foldedText(item.company)}, ${item.dueAt === item.sendAt ? 'due then' : html`due ${shownTime(item.dueAt, timeZone)}`}, to <bdi>${item.recipient}</bdi>${item.note === null ? '' : html`. ${foldedText(item.note)}`}`;
  return html`<h3>Coming</h3>
${coming.length === 0 ? html`<p>None.</p>` : html`<ul>${coming.map((item) => html`<li>${line(item)}</li>\n`)}</ul>`}
${more > 0 ? html`<p>and ${count(more)} more</p>` : ''}
${
  failed.length === 0
    ? ''
    : html`<h3>Failed or missed</h3>
<ul>${failed.map((item) => html`<li><strong>${item.state}</strong>, ${line(item)}</li>\n`)}</ul>`
}`;
}

function runTable({ facts, runs }: ConnectionPage): Html {
  if (runs.length === 0) return html`<p>None.</p>`;
  return html`<table class="runs">
<caption class="hidden">Runs, the newest first</caption>
<thead><tr><th scope="col">Run</th><th scope="col">Took</th><th scope="col">Changes</th><th scope="col">Conflict</th><th scope="col">Result</th></tr></thead>
<tbody>
${runs.map((run) => {
  const { id, createdAt, status, written, held } = run;
  const took = durationOf(run);
  const number = (value: number | null) => (value === null ? '–' : count(value));
  return html`<tr><th scope="row"><a href="/runs/${id}">${id}</a> ${runKind(run)}<br><span class="hint">${shownTime(createdAt, facts.timeZone)}</span></th>
<td>${took === null ? 'not ended' : shownDuration(took)}</td><td>${number(written)}</td><td>${number(held)}</td><td>${shownStatus(status)}</td></tr>\n`;
})}</tbody>
</table>`;
}
