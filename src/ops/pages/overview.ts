import { html } from 'hono/html';
import { describeAlert } from '../../alerts/describe-alert.ts';
import { count, counted } from '../../core/lead/wording.ts';
import { asksForLeads } from '../../core/merge/guard.ts';
import { allowable } from '../../core/merge/older-copy.ts';
import type { SyncReport } from '../../sync/report.ts';
import type { ConnectionFacts, ConnectionStatus } from '../connection-status.ts';
import { factList, type Html, type Page, postButton } from './layout.ts';
import {
  asOf,
  problemList,
  shownAge,
  shownDue,
  shownDuration,
  shownReceipt,
  shownStatus,
  shownTime,
  writtenWords,
} from './shown.ts';

/** `/`: the state of each connection. `now`: epoch ms. `stopped`: why this worker takes no more jobs; null: it does. */
export function overviewPage(all: readonly ConnectionFacts[], now: number, stopped: string | null): Page {
  const body = html`${stopped !== null && html`<p role="alert"><strong>This worker has stopped taking work.</strong> ${stopped}</p>`}
<p class="lead">${summary(all.map(({ status }) => status))}</p>
${asOf(
  now,
  all.map(({ timeZone }) => timeZone),
)}
${all.map((facts) => connectionSection(facts, now))}`;
  return { title: 'Status', body };
}

function summary(all: readonly ConnectionStatus[]): string {
  const troubled = all.filter(({ lastRun }) => lastRun !== null && lastRun.status !== 'succeeded').length;
  const held = all.reduce((sum, status) => sum + status.held, 0);
  const paused = all.filter(({ pausedSince }) => pausedSince !== null).length;
  const never = all.filter(({ lastRun }) => lastRun === null).length;
  return [
    counted(all.length, 'connection'),
    troubled === 0 ? 'no last run needs a look' : `${troubled} with a last run that needs a look`,
    paused > 0 && `${paused} paused`,
    never > 0 && `${never} never synced`,
    held === 0 ? 'nothing is held' : counted(held, 'held item'),
  ]
    .filter(Boolean)
    .join(' · ');
}

function connectionSection(facts: ConnectionFacts, now: number): Html {
  const { connection } = facts.status;
  return html`<section class="card" aria-labelledby="c-${connection}">
<h2 id="c-${connection}"><a href="/connections/${connection}">${connection}</a></h2>
${connectionState(facts, now, false)}
</section>`;
}

/**
 * What both pages show of a connection: its state, what runs, buttons, facts. `isAsked`: a sync waits in the queue.
 * `hasProblems`: the page lists the problems of the last run itself.
 */
export function connectionState(
  facts: ConnectionFacts,
  now: number,
  isAsked: boolean,
  hasProblems = false,
): Html {
  const { lastRun } = facts.status;
  return html`<p>${lastRun === null ? html`<span class="status info">never synced</span>` : shownStatus(lastRun.status)}</p>
${progressLine(facts)}
${isAsked && html`<p class="progress" data-waiting="${facts.status.connection}"><strong>Waiting</strong> A sync starts as soon as a worker is free.</p>`}
${connectionButtons(facts.status, isAsked)}
${connectionFactList(facts, now, hasProblems)}`;
}

/** The progress of the run under way; live.js keeps it up to date. */
function progressLine({ status, progress, endedRun }: ConnectionFacts): Html {
  const { connection, running } = status;
  const text = running === null || progress === null ? '' : `run ${running.runId}: ${progress}`;
  const idle = running !== null && running.holder === null && ' (interrupted; the next job continues it)';
  return html`<p class="progress" data-progress="${connection}" data-run="${running?.runId}" data-ended="${endedRun}" ${text === '' && 'hidden'}><strong>Running now</strong> <span data-text>${text}${idle}</span></p>`;
}

/** The orders of a person for a connection; each is the end of the address of its form. */
export const orders = ['sync', 'make-leads', 'pause', 'resume', 'lift-wait'] as const;
export type Order = (typeof orders)[number];

const labels: Readonly<Record<Order, string>> = {
  sync: 'Sync now',
  'make-leads': 'Make these leads',
  pause: 'Pause',
  resume: 'Resume',
  'lift-wait': 'End the wait',
};

function connectionButtons(
  { connection, pausedSince, throttledUntil, running, lastRun }: ConnectionStatus,
  isAsked: boolean,
): Html {
  const isSyncing = isAsked || (running !== null && running.holder !== null);
  const offered: readonly Order[] = [
    ...(pausedSince !== null || isSyncing ? [] : ['sync' as const]),
    ...(pausedSince !== null || isSyncing || lastRun === null || !asksForLeads(lastRun)
      ? []
      : ['make-leads' as const]),
    pausedSince !== null ? 'resume' : 'pause',
    ...(throttledUntil === null ? [] : ['lift-wait' as const]),
  ];
  const button = (order: Order): Html => {
    const label = html`${labels[order]}<span class="hidden"> ${connection}</span>`;
    const isQuiet = order === 'pause' || order === 'lift-wait';
    return postButton(`/connections/${connection}/${order}`, label, {}, isQuiet);
  };
  return html`<div class="actions">
${offered.map(button)}</div>`;
}

function connectionFactList(facts: ConnectionFacts, now: number, hasProblems: boolean): Html {
  const { status, timeZone, late, deletesWaiting, alerts } = facts;
  const {
    connection,
    lastRun,
    lastRunAt,
    held,
    reminders,
    deletedLeads,
    outsideLeads = 0,
    formerPlaces,
  } = status;
  const time = (at: number): Html => html`${shownTime(at, timeZone)} (${shownAge(at, now)})`;
  const iso = (at: string): Html => time(Date.parse(at));
  const page = `/connections/${connection}`;
  const [next] = reminders.next;
  return factList([
    ['Alerts', alerts.length > 0 && alertList(connection, alerts, time)],
    [
      'Last run',
      lastRun === null || lastRunAt === null
        ? 'no sync so far'
        : html`<a href="/runs/${lastRun.runId}">run ${lastRun.runId}</a>, ${iso(lastRunAt)}, took ${shownDuration(lastRun.durationMs)}`,
    ],
    ['Table', status.place],
    [
      'Former tables',
      formerPlaces.map(({ address, leftAt }) => `${address} (left ${leftAt.slice(0, 10)})`).join(', ') ||
        null,
    ],
    ['Why', lastRun && whyNot(lastRun, facts, hasProblems)],
    ['Written', lastRun && writtenWords(lastRun)],
    ['Receipt', lastRun && shownReceipt(lastRun)],
    ['Last completed', facts.lastSuccessAt !== null && time(facts.lastSuccessAt)],
    [
      'Next run',
      status.nextRunAt === null ? 'not scheduled: leadsync worker keeps the schedule' : iso(status.nextRunAt),
    ],
    [
      'Paused',
      status.pausedSince &&
        html`<strong class="warn">since ${iso(status.pausedSince)}</strong>: no sync runs, reminders go on`,
    ],
    ['Throttled', status.throttledUntil && html`until ${iso(status.throttledUntil)}, as the service asked`],
    [
      'Conflicts',
      held === 0
        ? 'nothing is held'
        : html`<a href="/conflicts?connection=${connection}">${counted(held, 'held item')}</a>`,
    ],
    [
      'Deletes waiting',
      deletesWaiting === 0
        ? 'none'
        : html`<a href="${page}#deletes">${counted(deletesWaiting, 'record')} missing, not proven deleted yet</a>`,
    ],
    [
      'Deleted leads',
      deletedLeads.length > 0 &&
        html`<a href="${page}#deleted">${counted(deletedLeads.length, 'row')} kept whose leads are deleted</a>`,
    ],
    [
      'Outside the filter',
      outsideLeads > 0 &&
        `${counted(outsideLeads, 'lead')} that leads.query does not show: rows kept, no mails`,
    ],
    [
      'Reminders',
      html`<a href="${page}#reminders">${count(reminders.coming)} coming</a>${next && html`, the next for a follow-up due ${shownDue(next.dueAt, timeZone)}`}${trouble(late)}`,
    ],
  ]);
}

function alertList(connection: string, alerts: ConnectionFacts['alerts'], time: (at: number) => Html): Html {
  return html`<ul class="problems">
${alerts.map((alert) => {
  const { title, help } = describeAlert({ ...alert, connection, event: 'raised' });
  return html`<li><strong class="bad">${title}</strong> since ${time(alert.raisedAt)}
${help.map(([command, does]) => html`<br><code>${command}</code> ${does}`)}</li>\n`;
})}</ul>`;
}

const reasonsShown = 3;

/** Of a run that failed or was stopped: its first problems, and the command that lets it pass. */
function whyNot(
  { runId, connection, status, problems }: SyncReport,
  facts: ConnectionFacts,
  hasProblems: boolean,
): Html | null {
  if (status !== 'failed' && status !== 'stopped') return null;
  const reasons = problems.slice(0, reasonsShown);
  const more = problems.length - reasons.length;
  const guards = allowable(reasons.map(({ code }) => code));
  const command = [`leadsync sync --connection ${connection}`, ...guards.map((code) => `--allow ${code}`)];
  const way = html`<p>Nothing was written. If that is what you want: <code>${command.join(' ')}</code></p>`;
  const said = hasProblems
    ? html`<a href="#problems">Problems of the run</a>`
    : html`${problemList(reasons, facts)}${more > 0 && html`<p><a href="/runs/${runId}#problems">and ${count(more)} more</a></p>`}`;
  return html`${said}${guards.length > 0 && way}`;
}

function trouble({ late, failed }: ConnectionFacts['late']): Html | null {
  const parts = [
    late > 0 && `${count(late)} late`,
    failed > 0 && `${count(failed)} failed or missed in the last 7 days`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? null : html`; <strong class="bad">${parts.join(', ')}</strong>`;
}
