import type { Cost } from './measure.ts';
import { Stage } from './stage.ts';

/** What was measured of one row of the table: ours and its floor, each several times. */
export interface Row {
  readonly what: string;
  readonly floor: string;
  /** Of each figure: the bound that ours over the floor's has to keep. */
  readonly goals: Partial<Record<'wallMs' | 'cpuMs' | 'peakMb', number>>;
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
  const pages = Math.ceil(leads / pageSize);
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
    return { floor: await floor(), ours: await stage.sync(), fewest: pages };
  };
  const nightly = (floor: () => Promise<Cost>) => async () => ({
    floor: await floor(),
    ours: await stage.sync(),
    fewest: pages,
  });
  const rows: Row[] = [];

  await stage.service.order({ latencyMs: 20 });
  rows.push({
    what: `first sync of ${leads} leads, 20 ms a page of ${pageSize}`,
    floor: 'bare loop over the same pages',
    goals: { wallMs: 1.05, cpuMs: 4 },
    ...(await each(
      'first, 20 ms',
      first(() => stage.bareLoop()),
    )),
    limitedBy: '',
  });
  rows.push({
    what: 'nightly, nothing changed, 20 ms',
    floor: 'bare loop',
    goals: { wallMs: 1.03 },
    ...(await each(
      'nightly, 20 ms',
      nightly(() => stage.bareLoop()),
    )),
    limitedBy: '',
  });
  rows.push({
    what: 'nightly, 1 % changed on each side, 20 ms',
    floor: 'bare loop and the PATCHes alone',
    goals: { wallMs: 1.1 },
    ...(await each('1 %, 20 ms', async (nth) => {
      const ids = await stage.editBothSides(nth);
      const ours = await stage.sync();
      // Afterwards: its PATCHes are edits, too. The next sync carries them to the table, unmeasured.
      const floor = await stage.bareLoop(ids);
      await stage.sync();
      return { ours, floor, fewest: pages + ids.length };
    })),
    limitedBy: '',
  });
  await stage.service.order({ latencyMs: 0 });
  rows.push({
    what: 'nightly, nothing changed, no latency',
    floor: 'the script',
    goals: { wallMs: 1, peakMb: 0.8 },
    ...(await each('nightly', async () => {
      await stage.script();
      return nightly(() => stage.script())();
    })),
    limitedBy: '',
  });
  rows.push({
    what: 'first sync, no latency',
    floor: 'the script',
    goals: { wallMs: 1.3 },
    ...(await each(
      'first',
      first(() => stage.script()),
    )),
    limitedBy: '',
  });
  return rows;
}
