import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { epochMs, oneOf } from './database.ts';

/** Ms between two corrections. */
const lookEveryMs = 15_000;

const machineClock = Date.now;

/** The machine's own time (epoch ms), also in a process that goes by the database's. */
export const machineNow = (): number => machineClock();

/** Begins with the machine's time and never jumps, unlike that. */
const steadyNow = (): number => performance.timeOrigin + performance.now();

/** The time of the database, epoch ms. */
export async function databaseNow(db: Pick<pg.Pool, 'query'>): Promise<number> {
  return (await oneOf<{ now: number }>(db, `select ${epochMs('clock_timestamp()')} as now`)).now;
}

/**
 * How far (ms) `clock` is ahead of `here`, to half of the time that asking takes; below zero: behind. Throws what `clock` throws.
 */
async function aheadMs(clock: () => Promise<number>, here: () => number): Promise<number> {
  const asked = here();
  const there = await clock();
  return there - (asked + here()) / 2;
}

/**
 * The correction (ms) of a clock that showed `asked` and `answered` (epoch ms) before and after the database's clock showed
 * `there`: the previous one unless this reading excludes it, so that a slow reply moves nothing.
 */
export function correction(before: number, asked: number, there: number, answered: number): number {
  return Math.min(Math.max(before, there - answered), there - asked);
}

/**
 * Makes `Date.now()` the time of the database until it is disposed; it never jumps. So everything that is stored or compared
 * is by one clock, also in BullMQ, which takes none. Corrects itself every few seconds; while the database is away the clock
 * goes on. Throws what the first query throws.
 */
export async function useDatabaseTime(pool: pg.Pool): Promise<Disposable> {
  let offset = 0;
  const look = async (): Promise<void> => {
    const asked = steadyNow();
    const there = await databaseNow(pool);
    offset = correction(offset, asked, there, steadyNow());
  };
  await look();
  Date.now = () => Math.floor(steadyNow() + offset);
  const stop = new AbortController();
  const looking = async (): Promise<void> => {
    const { signal } = stop;
    while (await sleep(lookEveryMs, true, { signal, ref: false }).catch(() => false))
      await look().catch(() => {});
  };
  void looking();
  return {
    [Symbol.dispose]() {
      stop.abort();
      Date.now = machineClock;
    },
  };
}

/** How far (ms) a clock is ahead of the database's; below zero: behind. */
export interface ClockDifference {
  readonly clock: 'worker' | 'redis' | 'service';
  /** Whose service it is. */
  readonly connection?: string;
  readonly aheadMs: number;
}

/**
 * The clocks of this machine, of Redis if it holds the jobs, and of each service whose replies to this process had a time. Throws
 * what the database and the queues throw.
 */
export async function clockDifferences({
  pool,
  queues,
  activity,
}: {
  readonly pool: pg.Pool;
  readonly queues: () => Promise<{ readonly clock: (() => Promise<number>) | null }>;
  readonly activity: { readonly serviceAheadMs: ReadonlyMap<string, number> };
}): Promise<readonly ClockDifference[]> {
  const database = await aheadMs(() => databaseNow(pool), Date.now);
  const { clock } = await queues();
  return [
    { clock: 'worker', aheadMs: machineNow() - Date.now() - database },
    ...(clock === null
      ? []
      : [{ clock: 'redis', aheadMs: (await aheadMs(clock, Date.now)) - database } as const]),
    ...[...activity.serviceAheadMs].map(
      ([connection, ahead]) => ({ clock: 'service', connection, aheadMs: ahead - database }) as const,
    ),
  ];
}
