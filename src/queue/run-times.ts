import { CronExpressionParser } from 'cron-parser';

const hourMs = 3_600_000;

/**
 * The last time before `now` (epoch ms) at which a cron pattern, which must be one that comes, was due. Found by going
 * forward, as BullMQ does: where clocks change, cron-parser's way back misses nights, doubles them, or throws.
 */
export function previousRun(pattern: string, timeZone: string, now: number): number {
  for (let reachMs = hourMs; ; reachMs *= 6) {
    const dates = CronExpressionParser.parse(pattern, {
      tz: timeZone,
      currentDate: new Date(now - reachMs),
    });
    let last: number | null = null;
    for (let next = dates.next().getTime(); next < now; next = dates.next().getTime()) last = next;
    if (last !== null) return last;
  }
}

/** The next time after `now` (epoch ms) at which a cron pattern is due. */
export function nextRun(pattern: string, timeZone: string, now: number): number {
  return CronExpressionParser.parse(pattern, { tz: timeZone, currentDate: new Date(now) })
    .next()
    .getTime();
}
