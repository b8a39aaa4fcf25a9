import { html } from 'hono/html';
import { count, counted } from '../../core/lead/counted.ts';
import type { ListedRun } from '../../store/run-list.ts';
import type { Html } from './elements.ts';
import { lookOf } from './run-words.ts';
import { shownDuration } from './shown.ts';

/** Width of a bar with its gap, the gap, and the height of the chart; the page stretches it. */
const [step, gap, height] = [10, 3, 100];

/** The least height of a bar that is not 0. */
const leastBar = 4;

interface Series {
  readonly name: string;
  readonly of: (run: ListedRun) => number;
  readonly shown: (value: number) => string;
}

const series: readonly Series[] = [
  { name: 'Took', of: (run) => durationOf(run) ?? 0, shown: shownDuration },
  { name: 'Changes', of: ({ written }) => written ?? 0, shown: count },
  { name: 'Held', of: ({ held }) => held ?? 0, shown: count },
];

/** The duration of a run (ms); null: it has not ended. */
export function durationOf({ createdAt, finishedAt }: ListedRun): number | null {
  return finishedAt === null ? null : finishedAt - createdAt;
}

/**
 * The syncs of a list (`runs`: the newest first) as bars, the oldest on the left: how long each took, what it changed and
 * left held. The table beside it has the numbers. `room`: runs on a full page of the list.
 */
export function runChart(runs: readonly ListedRun[], room: number): Html | null {
  const syncs = runs.filter(({ mode, finishedAt }) => mode === 'sync' && finishedAt !== null).toReversed();
  if (syncs.length < 2) return null;
  return html`<h2>Runs over time</h2>
<p class="hint">The last ${counted(syncs.length, 'sync')} of the <a href="#runs">list of runs</a>, which has the numbers; the oldest on the left. Heights are square roots, so that small numbers are seen beside those of a first sync.</p>
<div class="charts">
${series.map((one) => chart(one, syncs, room))}</div>`;
}

function chart({ name, of, shown }: Series, syncs: readonly ListedRun[], room: number): Html {
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
