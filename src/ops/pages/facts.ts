import { html } from 'hono/html';
import { describeAlert } from '../../alerts/describe-alert.ts';
import { waysPast } from '../../core/merge/older-copy.ts';
import type { SyncReport } from '../../sync/report.ts';
import type { ConnectionFacts } from '../connection-facts.ts';
import type { Html } from './layout.ts';
import { problemList } from './problem-list.ts';
import { receiptWords, writtenWords } from './run-words.ts';
import { shownAge, shownDuration, shownTime } from './shown-time.ts';
import { count, counted } from '../../core/lead/counted.ts';

type Fact = readonly [name: string, value: Html | string | null];

/** Facts by name; those that are null are left out. */
export function factList(facts: readonly Fact[]): Html {
  return html`<dl class="facts">
${facts.map(([name, value]) => (value === null ? '' : html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`))}</dl>`;
}

/** The progress of the run under way; live.js keeps it up to date. */
export function progressLine({ status, progress }: ConnectionFacts): Html {
  const { connection, running } = status;
  const text = running === null || progress === null ? '' : `run ${running.runId}: ${progress}`;
  const idle = running !== null && running.holder === null ? ' (interrupted; the next job continues it)' : '';
  return html`<p class="progress" data-progress="${connection}" data-run="${running?.runId ?? ''}" ${text === '' ? html`hidden` : ''}><strong>Running now</strong> <span data-text>${text}${idle}</span></p>`;
}

/** The facts that both pages show of a connection. */
export function connectionFactList(facts: ConnectionFacts, now: number): Html {
  const { status, timeZone, late, deletesWaiting, alerts, companies } = facts;
  const { connection, lastRun, lastRunAt, held, reminders, deletedLeads } = status;
  const time = (at: number): Html => html`${shownTime(at, timeZone)} (${shownAge(at, now)})`;
  const iso = (at: string): Html => time(Date.parse(at));
  const page = `/connections/${connection}`;
  const [next] = reminders.next;
  return factList([
    ['Alerts', alerts.length === 0 ? null : alertList(connection, alerts, time)],
    [
      'Last run',
      lastRun === null || lastRunAt === null
        ? 'no sync so far'
        : html`<a href="/runs/${lastRun.runId}">run ${lastRun.runId}</a>, ${iso(lastRunAt)}, took ${shownDuration(lastRun.durationMs)}`,
    ],
    ['Keeps in step', status.place],
    [
      'Before',
      status.formerPlaces.length === 0
        ? null
        : status.formerPlaces
            .map(({ address, leftAt }) => `${address} (left ${leftAt.slice(0, 10)})`)
            .join(', '),
    ],
    ['Why', lastRun && whyNot(lastRun, companies)],
    ['Written', lastRun && writtenWords(lastRun)],
    ['Receipt', lastRun && receiptWords(lastRun)],
    ['Last success', facts.lastSuccessAt === null ? 'never' : time(facts.lastSuccessAt)],
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
      deletedLeads.length === 0
        ? null
        : html`<a href="${page}#deleted">${counted(deletedLeads.length, 'row')} kept whose leads are deleted</a>`,
    ],
    [
      'Reminders',
      html`<a href="${page}#reminders">${count(reminders.coming)} coming</a>${next === undefined ? '' : html`, the next for a follow-up due ${iso(next.dueAt)}`}${trouble(late)}`,
    ],
  ]);
}

/** The open alerts, with what helps. */
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
  { connection, status, problems }: SyncReport,
  companies: ConnectionFacts['companies'],
): Html | null {
  if (status !== 'failed' && status !== 'stopped') return null;
  const reasons = problems.slice(0, reasonsShown);
  const refused = reasons.flatMap(({ code }) => /^guard\.(?!target\.)(.+)$/.exec(code)?.[1] ?? []);
  // A guard with several ways out names them in its message.
  const guards = refused.filter((code) => !(code in waysPast));
  const command = [`leadsync sync --connection ${connection}`, ...guards.map((code) => `--allow ${code}`)];
  return html`${problemList(reasons, companies)}${guards.length === 0 ? '' : html`<p>Nothing was written. If that is what you want: <code>${command.join(' ')}</code></p>`}`;
}

function trouble({ late, failed }: ConnectionFacts['late']): Html | '' {
  const said = [
    late > 0 && `${count(late)} late`,
    failed > 0 && `${count(failed)} failed or missed in the last 7 days`,
  ].filter((part) => part !== false);
  return said.length === 0 ? '' : html`; <strong class="bad">${said.join(', ')}</strong>`;
}
