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
export async function aheadMs(clock: () => Promise<number>, here: () => number): Promise<number> {
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
