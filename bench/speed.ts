/**
 * What syncs cost, beside a floor that is measured in the same run: `npm run bench [-- LEADS TIMES MOST]`. Writes
 * bench/RESULTS.md and bench/RESULTS.svg. MOST: leads of the largest sync; 1,000,000 take some minutes and gigabytes.
 */
import { writeFile } from 'node:fs/promises';
import { mergesASecond, planOf, queueOverhead, startOfStatus } from './speed/parts.ts';
import { plot, type Point } from './speed/plot.ts';
import { differenceGoal, leastGoal, page, ratioGoal } from './speed/results.ts';
import { syncRows } from './speed/rows.ts';
import { Stage } from './speed/stage.ts';

const [leads = 100_000, times = 5, most = 1_000_000] = process.argv.slice(2).map(Number);
const tell = (line: string): void =>
  void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);

const parts = [
  leastGoal(mergesASecond(times), 1_000_000),
  differenceGoal(await startOfStatus(3 * times), 130),
  ratioGoal(await queueOverhead(leads, 2 * times), 1.03),
  ratioGoal(await planOf(most, times), 1.5),
];
for (const { part, figure, show } of parts) tell(`${part.what}: ${show(figure(part))}`);

const rows = await syncRows(leads, times, tell);
const [points, workbooks]: [Point[], Point[]] = [[], []];
for (let count = 1_000; count <= most; count *= 10) {
  points.push(await grown('leads.csv', count));
  await write();
}
for (let count = 1_000; count <= leads; count *= 10) {
  workbooks.push(await grown('leads.xlsx', count));
  await write();
}

/** Also in between: what was measured is there, whatever becomes of the rest. */
async function write(): Promise<void> {
  await writeFile(new URL('RESULTS.svg', import.meta.url), plot(points));
  await writeFile(new URL('RESULTS.md', import.meta.url), await page({ rows, points, workbooks, parts }));
}

async function grown(table: string, count: number): Promise<Point> {
  await using stage = await Stage.open(count, table);
  await stage.clear();
  const first = await stage.sync();
  const nightly = await stage.sync();
  const costs = [first, nightly].map(
    ({ wallMs, peakMb }) => `${(wallMs / 1000).toFixed(1)} s, ${peakMb.toFixed(0)} MB`,
  );
  tell(`${count} leads in ${table}: ${costs.join('; ')}`);
  return { leads: count, first, nightly };
}
