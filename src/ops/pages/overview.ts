import { html } from 'hono/html';
import type { ConnectionFacts } from '../connection-facts.ts';
import { connectionButtons } from './connection-buttons.ts';
import { connectionFactList, progressLine } from './facts.ts';
import { type Html, layout, type Menu } from './layout.ts';
import { shownStatus } from './run-words.ts';
import { shownTime } from './shown-time.ts';
import { counted } from '../../core/lead/counted.ts';

/** `/`: the state of each connection. `now`: epoch ms. `stopped`: why this worker takes no more jobs; null: it does. */
export function overviewPage(
  all: readonly ConnectionFacts[],
  now: number,
  stopped: string | null,
  menu: Menu,
): Html {
  const body = html`${stopped === null ? '' : html`<p role="alert"><strong>This worker has stopped taking work.</strong> ${stopped}</p>`}
<p class="lead">${summary(all)}</p>
${asOf(now)}
${all.map((facts) => connectionSection(facts, now))}`;
  return layout({ title: 'Status', body, menu });
}

/** When the page was made, and a link that refreshes it without a script. */
export function asOf(now: number): Html {
  return html`<p class="hint">As of ${shownTime(now, 'UTC')}. <a href="">Refresh</a></p>
<p class="hidden" role="status" id="live"></p>`;
}

function summary(all: readonly ConnectionFacts[]): string {
  const troubled = all.filter(
    ({ status: { lastRun } }) => lastRun !== null && lastRun.status !== 'succeeded',
  );
  const held = all.reduce((sum, { status }) => sum + status.held, 0);
  const paused = all.filter(({ status }) => status.pausedSince !== null).length;
  const never = all.filter(({ status }) => status.lastRun === null).length;
  return [
    counted(all.length, 'connection'),
    troubled.length === 0
      ? 'no last run needs a look'
      : `${troubled.length} with a last run that needs a look`,
    paused > 0 ? `${paused} paused` : '',
    never > 0 ? `${never} never synced` : '',
    held === 0 ? 'nothing is held' : counted(held, 'held item'),
  ]
    .filter(Boolean)
    .join(' · ');
}

function connectionSection(facts: ConnectionFacts, now: number): Html {
  const { connection, lastRun } = facts.status;
  return html`<section class="card" aria-labelledby="c-${connection}">
<h2 id="c-${connection}"><a href="/connections/${connection}">${connection}</a></h2>
<p>${lastRun === null ? html`<span class="status info">never synced</span>` : shownStatus(lastRun.status)}</p>
${progressLine(facts)}
${connectionButtons(facts.status)}
${connectionFactList(facts, now)}
</section>`;
}
