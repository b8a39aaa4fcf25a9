import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until `condition` holds, looking every few ms; throws after `withinMs`, naming what did not happen. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  withinMs = 30_000,
): Promise<void> {
  const end = Date.now() + withinMs;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`${what}: not within ${withinMs} ms`);
    await sleep(3);
  }
}
