import { html } from 'hono/html';
import { count, counted } from '../../core/lead/wording.ts';
import type { Problem } from '../../lib/errors.ts';
import { choiceWords } from '../../review/decide-held.ts';
import type { Decision } from '../../store/conflicts.ts';
import type { Reminder } from '../../store/mails.ts';
import type { ListedRun } from '../../store/run-list.ts';
import type { WaitingDelete, WithCompany } from '../../store/pairs.ts';
import { type ConnectionFacts, namesShown } from '../connection-status.ts';
import { heldList, type ShownHeld, whoseWords } from './conflicts.ts';
import { type Html, list, type Page, pageLinks, table } from './layout.ts';
import { connectionState } from './overview.ts';
import {
  asOf,
  foldedText,
  lookOf,
  problemList,
  runKind,
  shownDue,
  shownDuration,
  shownLead,
  shownStatus,
  shownTime,
  shownValue,
} from './shown.ts';

interface ConnectionPage {
  readonly facts: ConnectionFacts;
  readonly deletes: readonly WaitingDelete[];
  /** The oldest ones. */
  readonly conflicts: readonly ShownHeld[];
  readonly runs: readonly ListedRun[];
  readonly isFirst: boolean;
  readonly next: string | null;
  readonly coming: readonly WithCompany<Reminder>[];
  /** Failed and missed. */
  readonly failed: readonly WithCompany<Reminder>[];
  /** The newest ones. */
  readonly decisions: readonly WithCompany<Decision>[];
  readonly isAsked: boolean;
  readonly now: number;
}

const problemsShown = 10;

export const runsShown = 30;

/** `/connections/NAME`: the state of a connection. */
export function connectionPage(page: ConnectionPage): Page {
  const { facts, conflicts, runs, now } = page;
  const { connection, lastRun, held } = facts.status;
  const problems = (lastRun?.problems ?? []).filter((problem) => !isShownBelow(problem, conflicts));
  const body = html`${asOf(now, [facts.timeZone])}
${connectionState(facts, now, page.isAsked, true)}
${runChart(runs, runsShown)}
${
  problems.length > 0 &&
  html`<h2 id="problems">Problems of the last run</h2>
${problemList(problems.slice(0, problemsShown), facts)}
${problems.length > problemsShown && html`<p><a href="/runs/${lastRun?.runId}#problems">All ${count(lastRun?.problems.length ?? 0)} problems</a></p>`}`
}
<h2 id="conflicts">Conflicts</h2>
${conflicts.length === 0 ? html`<p>Nothing is held.</p>` : heldList(conflicts, `/connections/${connection}`)}
${held > conflicts.length && html`<p><a href="/conflicts?connection=${connection}">All ${count(held)} held items</a></p>`}
${decisionList(page)}
<h2 id="deletes">Deletes waiting</h2>
${deletesSection(page)}
<h2 id="reminders">Reminders</h2>
${reminders(page)}
<h2 id="runs">Runs</h2>
${runs.length === 0 ? html`<p>None.</p>` : runTable(page)}
${pageLinks(page.isFirst ? null : `/connections/${connection}#runs`, page.next, 'runs')}`;
  return { title: `Connection ${connection}`, body };
}

/** What is held stands among the conflicts of the page, with its values. */
function isShownBelow(
  { code, leadId = '', row, field = '' }: Problem,
  conflicts: readonly ShownHeld[],
): boolean {
  return conflicts.some(({ item }) => {
    if (item.kind === 'calendar') return false;
    if (item.kind === 'match')
      return code.startsWith('match.') && (leadId === '' ? item.row === row : item.leadId === leadId);
    return item.code === code && item.leadId === leadId && item.row === (row ?? null) && item.field === field;
  });
}

function deletesSection({ facts, deletes }: ConnectionPage): Html {
  const { deletesWaiting, status, companies, timeZone } = facts;
  const { deletedLeads } = status;
  const waiting = deletes.map(
    ({ leadId, company, missing, since }) =>
      html`${nameOf(company, leadId)}: the ${missing} is missing${since !== null && html` since ${shownTime(since, timeZone)}`}`,
  );
  const deleted = deletedLeads.slice(0, namesShown).map((id) => nameOf(companies.get(id), id));
  return html`${
    waiting.length === 0
      ? html`<p>None: nothing is missing on either side.</p>`
      : html`<p>Missing in the last scans. Nothing is deleted before two complete scans, as far apart as <code>sync.proveAfter</code> says, and, of a lead, a “not found” of the service.</p>
${list(waiting, deletesWaiting)}`
  }
${
  deleted.length > 0 &&
  html`<h3 id="deleted">Deleted in the service, rows kept</h3>
${list(deleted, deletedLeads.length)}`
}`;
}

/** The company, and the id to distinguish two of one name. */
function nameOf(company: string | null | undefined, leadId: string): Html {
  return html`${company && html`${foldedText(company)}, `}<span class="hint">lead ${leadId}</span>`;
}

function decisionList({ decisions, facts: { columns, timeZone } }: ConnectionPage): Html | null {
  if (decisions.length === 0) return null;
  const items = decisions.map(
    (one) =>
      html`<strong>${shownLead(one.company, one.leadId)}</strong>: ${decisionWords(one, columns, timeZone)}, by <bdi>${one.by}</bdi>, ${shownTime(one.at, timeZone)}`,
  );
  return html`<h3 id="decisions">Decided last</h3>
${list(items)}`;
}

/** What was decided. `columns`: headings by field. */
function decisionWords(
  { field, choice, lead, row }: Decision,
  columns: ReadonlyMap<string, string>,
  timeZone: string,
): Html | string {
  const shown = (cell: Decision['lead']): Html => shownValue(cell, timeZone);
  if (field === '') return choiceWords[choice];
  if (choice === 'requested' || choice === 'given-up')
    return html`${columns.get(field) ?? field}: ${choiceWords[choice]}, ${shown(row)} in place of ${shown(lead)}`;
  const side = choice === 'lead' ? 'lead' : 'target';
  const [kept, given] = side === 'lead' ? [lead, row] : [row, lead];
  return html`${columns.get(field) ?? field}: ${whoseWords[side]} value ${shown(kept)} instead of ${shown(given)}`;
}

function reminders({ facts, coming, failed }: ConnectionPage): Html {
  const { status, timeZone } = facts;
  const line = ({ leadId, company, sendAt, dueAt, recipient, note }: WithCompany<Reminder>): Html =>
    html`${shownTime(sendAt, timeZone)}: ${shownLead(company, leadId)}, ${dueAt === sendAt ? 'due then' : html`due ${shownDue(dueAt, timeZone)}`}, to <bdi>${recipient}</bdi>${note !== null && html`. ${foldedText(note)}`}`;
  const ended = failed.map((item) => html`<strong>${item.state}</strong>, ${line(item)}`);
  return html`<h3>Coming</h3>
${coming.length === 0 ? html`<p>None.</p>` : list(coming.map(line), status.reminders.coming)}
${
  ended.length > 0 &&
  html`<h3>Failed or missed</h3>
${list(ended)}`
}`;
}

function runTable({ facts, runs }: ConnectionPage): Html {
  const number = (value: number | null): string => (value === null ? '–' : count(value));
  const rows = runs.map((run) => {
    const { id, createdAt, status, written, held } = run;
    const took = durationOf(run);
    const head = html`<a href="/runs/${id}">${id}</a> ${runKind(run)}<br><span class="hint">${shownTime(createdAt, facts.timeZone)}</span>`;
    const duration = took === null ? 'not ended' : shownDuration(took);
    return [head, duration, number(written), number(held), shownStatus(status)];
  });
  return table('runs', 'Runs, the newest first', ['Run', 'Took', 'Changes', 'Held', 'Result'], rows);
}

/** Width of a bar with its gap, the gap, and the height of the chart; the page stretches it. */
const [step, gap, height] = [10, 3, 100];

/** The least height of a bar that is not 0. */
const leastBar = 4;

const series = [
  { name: 'Took', of: (run: ListedRun) => durationOf(run) ?? 0, shown: shownDuration },
  { name: 'Changes', of: ({ written }: ListedRun) => written ?? 0, shown: count },
  { name: 'Held', of: ({ held }: ListedRun) => held ?? 0, shown: count },
];

/** The duration of a run (ms); null: it has not ended. */
function durationOf({ createdAt, finishedAt }: ListedRun): number | null {
  return finishedAt === null ? null : finishedAt - createdAt;
}

/**
 * The syncs of a list (`runs`: the newest first) as bars, the oldest on the left: how long each took, what it changed and
 * left held. The table beside it has the numbers. `room`: runs on a full page of the list.
 */
function runChart(runs: readonly ListedRun[], room: number): Html | null {
  const syncs = runs.filter(({ mode, finishedAt }) => mode === 'sync' && finishedAt !== null).toReversed();
  if (syncs.length < 2) return null;
  return html`<h2>Runs over time</h2>
<p class="hint">The last ${counted(syncs.length, 'sync')} of the <a href="#runs">list of runs</a>, which has the numbers; the oldest on the left. Heights are square roots, so that small numbers are seen beside those of a first sync.</p>
<div class="charts">
${series.map((one) => chart(one, syncs, room))}</div>`;
}

function chart(
  { name, of, shown }: (typeof series)[number],
  syncs: readonly ListedRun[],
  room: number,
): Html {
  const most = Math.max(...syncs.map(of));
  const newest = syncs.at(-1);
  const last = newest === undefined ? '' : shown(of(newest));
  const words = `${name}: ${last} in the last of ${counted(syncs.length, 'sync')}, ${shown(most)} at most`;
  const left = room - syncs.length;
  return html`<figure>
<figcaption>${name}: ${last} <span class="hint">at most ${shown(most)}</span></figcaption>
<svg role="img" aria-label="${words}" viewBox="0 0 ${room * step} ${height}" preserveAspectRatio="none">
${syncs.map((run, nth) => {
  const value = of(run);
  const tall = value === 0 ? 0 : Math.max(leastBar, Math.round(Math.sqrt(value / most) * height));
  return html`<rect class="${lookOf(run.status)}" x="${(left + nth) * step}" y="${height - tall}" width="${step - gap}" height="${tall}"><title>run ${run.id}: ${shown(value)}</title></rect>\n`;
})}</svg>
</figure>
`;
}
