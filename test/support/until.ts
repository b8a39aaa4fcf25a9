import { setTimeout as sleep } from 'node:timers/promises';

/** A wait spends at most this part of its time looking, which costs the processor that others need; pauses are of n ms. */
const looking = { part: 1 / 20, leastMs: 3, mostMs: 100 };

/** Waits until `condition` holds, looking every few ms; throws after `withinMs`, naming what did not happen. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  withinMs = 120_000,
): Promise<void> {
  const end = Date.now() + withinMs;
  for (;;) {
    const from = performance.now();
    if (await condition()) return;
    if (Date.now() > end) throw new Error(`${what}: not within ${withinMs} ms`);
    const lookMs = performance.now() - from;
    await sleep(Math.min(Math.max(lookMs / looking.part, looking.leastMs), looking.mostMs));
  }
}

/** A time that is promised is looked at with this much more (ms): the machine has other work. */
export const slackMs = 20_000;
