/** When a connection is synced: a cron pattern in an IANA time zone. */
export interface Timing {
  readonly pattern: string;
  readonly timeZone: string;
}

/** A schedule that workers have, or had. */
export interface KnownSchedule extends Timing {
  /** When (epoch ms) each worker said last that it has it. */
  readonly workers: Readonly<Record<string, number>>;
}

/** Workers say at least so often (ms, with reserve) that they have a schedule. */
const liveMs = 180_000;

export function isSameTiming(one: Timing, other: Timing | null | undefined): boolean {
  return other?.pattern === one.pattern && other.timeZone === one.timeZone;
}

/**
 * What is known after a worker said at `now` that its configuration has `own`, or (null) that it stops, and which schedule is
 * right: of those that workers have now the one that a worker had for the first time last. `known`: in that order. So neither an
 * older worker that starts once more nor a newer one's absence changes which configuration is the newer one.
 */
export function agreeOn(
  known: readonly KnownSchedule[],
  worker: string,
  own: Timing | null,
  now: number,
): { readonly known: readonly KnownSchedule[]; readonly right: Timing | null } {
  const isNew = own !== null && !known.some((one) => isSameTiming(one, own));
  const all = isNew ? [...known, { ...own, workers: {} }] : known;
  const noted = all.map((one) => {
    const others = Object.entries(one.workers).filter(([name, at]) => name !== worker && at >= now - liveMs);
    const workers = Object.fromEntries(others);
    return { ...one, workers: isSameTiming(one, own) ? { ...workers, [worker]: now } : workers };
  });
  return { known: noted, right: noted.findLast(({ workers }) => Object.keys(workers).length > 0) ?? null };
}
