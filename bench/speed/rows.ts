import type { SyncReport } from '../../src/sync/report.ts';
import type { Cost } from './measure.ts';
import { Stage } from './stage.ts';

/** What was measured of one row of the table: ours and its floor, each several times. */
export interface Row {
  readonly what: string;
  readonly leads: number;
  readonly floor: string;
  /** Of each figure: the bound that ours over the floor's has to keep; of `walBytes`: the most for a lead. */
  readonly goals: Partial<Record<'wallMs' | 'cpuMs' | 'peakMb' | 'walBytes', number>>;
  readonly ours: readonly Cost[];
  readonly floors: readonly Cost[];
  readonly requests: readonly { readonly sent: number; readonly fewest: number }[];
  /** What limits it now. */
  readonly limitedBy: string;
}

const pageSize = 100;

/** The rows about whole syncs of a CSV file, `times` each. */
export async function syncRows(
  leads: number,
  times: number,
  tell: (line: string) => void,
): Promise<readonly Row[]> {
  await using stage = await Stage.open(leads);
  const pagesOf = (count: number): number => Math.ceil(count / pageSize);
  const oneInAHundred =
    (of: Stage, count: number) =>
    async (nth: number): Promise<{ ours: Cost & { requests: number }; floor: Cost; fewest: number }> => {
      const edits = await of.editBothSides(nth);
      const ours = await of.sync();
      // Afterwards: its PATCHes say what the leads say by then, so that the next sync has nothing of them to do.
      return { ours, floor: await of.bareLoop(edits), fewest: pagesOf(count) + edits.length };
    };
  const each = async (
    name: string,
    run: (nth: number) => Promise<{
      readonly ours: Cost & { readonly requests: number };
      readonly floor: Cost;
      readonly fewest: number;
    }>,
  ): Promise<Pick<Row, 'ours' | 'floors' | 'requests'>> => {
    const all = [];
    for (let nth = 0; nth < times; nth++) {
      const one = await run(nth);
      tell(
        `${name}: ${(one.ours.wallMs / 1000).toFixed(2)} s, floor ${(one.floor.wallMs / 1000).toFixed(2)} s`,
      );
      all.push(one);
    }
    return {
      ours: all.map(({ ours }) => ours),
      floors: all.map(({ floor }) => floor),
      requests: all.map(({ ours, fewest }) => ({ sent: ours.requests, fewest })),
    };
  };
  const first = (floor: () => Promise<Cost>) => async () => {
    await stage.clear();
    return { floor: await floor(), ours: await stage.sync(), fewest: pagesOf(leads) };
  };
  const nightly = (floor: () => Promise<Cost>) => async () => {
    const floored = await floor();
    const ours = await stage.sync();
    requireNoWrite(ours.stdout);
    return { floor: floored, ours, fewest: pagesOf(leads) };
  };
  const rows: Row[] = [];

  await stage.service.order({ latencyMs: 20 });
  rows.push({
    leads,
    what: `first sync of ${leads} leads, 20 ms a page of ${pageSize}`,
    floor: 'bare loop over the same pages',
    goals: { wallMs: 1.08, cpuMs: 4 },
    ...(await each(
      'first, 20 ms',
      first(() => stage.bareLoop()),
    )),
    limitedBy:
      'what comes after the last page: the rows are written, become pairs, and the file is read once more; pages are stored while the next one comes',
  });
  rows.push({
    leads,
    what: 'nightly, nothing changed and nothing written, 20 ms',
    floor: 'bare loop',
    goals: { wallMs: 1.05 },
    ...(await each(
      'nightly, 20 ms',
      nightly(() => stage.bareLoop()),
    )),
    limitedBy:
      'the start and the end of the command, and what is done with a page: the next one is asked for before that, but both share a thread',
  });
  rows.push({
    leads,
    what: 'nightly, 1 % changed on each side, 20 ms',
    floor: 'bare loop and the PATCHes alone',
    goals: { wallMs: 1.2 },
    ...(await each('1 %, 20 ms', oneInAHundred(stage, leads))),
    limitedBy:
      'two requests for each changed lead where the floor sends one: it is looked at before it is written over; up to four leads at a time, and what became of twenty is stored before the next',
  });
  await stage.service.order({ latencyMs: 0 });
  rows.push({
    leads,
    what: 'nightly, nothing changed, no latency',
    floor: 'the script',
    goals: { wallMs: 1, peakMb: 0.45 },
    ...(await each('nightly', async () => {
      await stage.script();
      return nightly(() => stage.script())();
    })),
    limitedBy:
      'the comparison of each lead with its baseline, and a line of the log for eight pages, which is why a run that was killed goes on where it was; the start and the end',
  });
  rows.push({
    leads,
    what: 'first sync, no latency',
    floor: 'the script',
    goals: { wallMs: 2, walBytes: 500 },
    ...(await each(
      'first',
      first(() => stage.script()),
    )),
    limitedBy:
      'the pages, the rows and the pairs are written one after the other, to a disk that has to have them; the script keeps all in memory',
  });
  const few = leads / 10;
  await using distant = await Stage.open(few);
  await distant.clear();
  await distant.sync();
  await distant.service.order({ latencyMs: 150 });
  rows.push({
    leads: few,
    what: `nightly, 1 % of ${few} changed on each side, 150 ms`,
    floor: 'bare loop and the PATCHes alone',
    goals: { wallMs: 0.9 },
    ...(await each('1 %, 150 ms', oneInAHundred(distant, few))),
    limitedBy: 'the pages, which follow one another, and the look at each lead before it is written over',
  });
  return rows;
}

function requireNoWrite(stdout: string): void {
  const { created, updated, deleted } = JSON.parse(stdout) as SyncReport;
  const writes = [created, updated, deleted].flatMap(({ leads, rows }) => [leads, rows]);
  if (writes.some((count) => count > 0)) throw new Error(`something was written: ${stdout}`);
}
