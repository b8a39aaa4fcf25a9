import { cpus, totalmem } from 'node:os';
import { readFile } from 'node:fs/promises';
import { type Cost, median } from './measure.ts';
import { type Part, ratio } from './parts.ts';
import type { Point } from './plot.ts';
import type { Row } from './rows.ts';

const figures = {
  wallMs: 'wall',
  cpuMs: 'CPU',
  databaseCpuMs: 'CPU of Postgres',
  walBytes: 'log of Postgres',
  peakMb: 'peak memory',
} as const;
type Figure = keyof typeof figures;

/** A part with its goal, in words and as a test of the figure that it is about. */
export interface JudgedPart {
  readonly part: Part;
  readonly goal: string;
  readonly figure: (part: Part) => number;
  readonly show: (figure: number) => string;
  readonly isMet: (figure: number) => boolean;
}

/** All that was measured. */
export interface Results {
  readonly rows: readonly Row[];
  readonly points: readonly Point[];
  readonly workbooks: readonly Point[];
  readonly parts: readonly JudgedPart[];
}

/** The results as a page. */
export async function page({ rows, points, workbooks, parts }: Results): Promise<string> {
  return [
    '# What a sync costs, beside what is possible',
    '',
    'Written by `npm run bench`. Ours and its floor run in turn, in one go, on one machine; the service (the sandbox of this',
    'repository, in a process of its own) and Postgres run there, too. Each figure is the median; in brackets the least and the most.',
    'CPU is that of the process; what Postgres took beside it is a row without a goal.',
    '',
    ...(await machine()),
    '',
    '## Whole syncs of a CSV file',
    '',
    '| what | figure | ours | floor | ours / floor | goal |',
    '|---|---|---|---|---|---|',
    ...rows.flatMap(lines),
    '',
    'What limits each now; what was tried beside: [tried.md](tried.md).',
    '',
    ...rows.map(({ what, limitedBy }) => `- ${what}: ${limitedBy}.`),
    '',
    '## Requests',
    '',
    '| what | sent to the service | the fewest possible |',
    '|---|---|---|',
    ...rows.map(
      ({ what, requests }) =>
        `| ${what} | ${list(requests.map(({ sent }) => sent))} | ${list(requests.map(({ fewest }) => fewest))} |`,
    ),
    '',
    '## Parts',
    '',
    '| what | ours | floor | measured | goal |',
    '|---|---|---|---|---|',
    ...parts.map(
      ({ part, goal, figure, show, isMet }) =>
        `| ${part.what} | ${spread(part.ours)} ${part.unit} | ${part.floor === '' ? '' : `${part.floor}: ${spread(part.floors)} ${part.unit}`} | ${show(figure(part))} | ${goal}${isMet(figure(part)) ? '' : ' **missed**'} |`,
    ),
    '',
    ...parts.map(({ part: { what, limitedBy } }) => `- ${what}: ${limitedBy}.`),
    '',
    '## As the work grows',
    '',
    'No latency; wall time, CPU of the process (Postgres apart) and its peak memory, once each.',
    '',
    '![wall time, CPU and memory over the number of leads](RESULTS.svg)',
    '',
    ...table(points),
    '',
    'Goals: at most 150 MB for a first sync of 100,000, 190 MB of 1,000,000. An .xlsx file instead (goals for 100,000: 10 s, 2 s, 250 MB):',
    '',
    ...table(workbooks),
    '',
  ].join('\n');
}

function table(points: readonly Point[]): readonly string[] {
  return [
    '| leads | first sync | | | nightly | | |',
    '|---|---|---|---|---|---|---|',
    `|${' | wall | CPU | memory'.repeat(2)} |`,
    ...points.map(
      ({ leads, first, nightly }) =>
        `| ${leads.toLocaleString('en')} | ${[first, nightly].flatMap(({ wallMs, cpuMs, peakMb }) => [`${(wallMs / 1000).toFixed(1)} s`, `${(cpuMs / 1000).toFixed(1)} s`, `${peakMb.toFixed(0)} MB`]).join(' | ')} |`,
    ),
  ];
}

async function machine(): Promise<readonly string[]> {
  const [first] = cpus();
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return [
    `${new Date().toISOString().slice(0, 10)} · ${cpus().length} cores (${first?.model ?? 'unknown'}), ${Math.round(totalmem() / 1024 ** 3)} GB · Node ${process.version} · leadsync ${version}`,
  ];
}

function lines({ what, leads, floor, goals, ours, floors }: Row): readonly string[] {
  const names = Object.keys(figures) as Figure[];
  return names
    .filter((figure) => figure in goals || figure === 'wallMs' || figure === 'databaseCpuMs')
    .map((figure) => {
      const of = (costs: readonly Cost[]): readonly number[] => costs.map((cost) => shown(cost, figure));
      // Of a floor without a database there is nothing to compare it with.
      if (figure === 'databaseCpuMs') return `| ${what} | ${figures[figure]} | ${spread(of(ours))} s | | | |`;
      if (figure === 'walBytes') {
        const bytes = median(of(ours)) / leads;
        const most = goals.walBytes ?? Infinity;
        return `| ${what} | ${figures[figure]} | ${Math.round(bytes).toLocaleString('en')} bytes a lead | | | at most ${most}${bytes <= most ? '' : ' **missed**'} |`;
      }
      const quotient = median(of(ours)) / median(of(floors));
      const goal = goals[figure];
      const verdict = goal === undefined ? '' : `at most ${goal}${quotient <= goal ? '' : ' **missed**'}`;
      const unit = figure === 'peakMb' ? 'MB' : 's';
      return `| ${what} | ${figures[figure]} | ${spread(of(ours))} ${unit} | ${floor}: ${spread(of(floors))} ${unit} | ${quotient.toFixed(2)} | ${verdict} |`;
    });
}

/** Seconds, MB, or bytes. */
function shown(cost: Cost, figure: Figure): number {
  if (figure === 'peakMb' || figure === 'walBytes') return cost[figure];
  return cost[figure] / 1000;
}

function spread(values: readonly number[]): string {
  const text = (value: number): string =>
    value >= 1_000
      ? Math.round(value).toLocaleString('en')
      : value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
  return `${text(median(values))} (${text(Math.min(...values))}–${text(Math.max(...values))})`;
}

const list = (values: readonly number[]): string =>
  [...new Set(values)].map((value) => value.toLocaleString('en')).join(', ');

/** A goal of so much at most, of ours over the floor. */
export const ratioGoal = (part: Part, most: number): JudgedPart => ({
  part,
  goal: `at most ${most}`,
  figure: ratio,
  show: (figure) => figure.toFixed(2),
  isMet: (figure) => figure <= most,
});

/** A goal of so much more than the floor at most. */
export const differenceGoal = (part: Part, most: number): JudgedPart => ({
  part,
  goal: `at most +${most} ${part.unit}`,
  figure: ({ ours, floors }) => median(ours) - median(floors),
  show: (figure) => `+${figure.toFixed(0)} ${part.unit}`,
  isMet: (figure) => figure <= most,
});

/** A goal of so much at least. */
export const leastGoal = (part: Part, least: number): JudgedPart => ({
  part,
  goal: `at least ${least.toLocaleString('en')}`,
  figure: ({ ours }) => median(ours),
  show: (figure) => Math.round(figure).toLocaleString('en'),
  isMet: (figure) => figure >= least,
});
