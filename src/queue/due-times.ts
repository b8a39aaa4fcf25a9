import { CronExpressionParser } from 'cron-parser';
import { Temporal } from 'temporal-polyfill';

const hourMs = 3_600_000;

/** No time zone sets its clocks back by more. */
const mostRepeatedMs = 3 * hourMs;

/** Two due times of a schedule with none between them. */
interface Gap {
  readonly last: number;
  readonly next: number;
}

/** Where the last question about a schedule fell: many connections have one, and each takes ms to reckon. */
const gaps = new Map<string, Gap>();
const mostGaps = 1_000;

/** The last due time before `now` (epoch ms), and the next one from then on. */
function gapAt(pattern: string, timeZone: string, now: number): Gap {
  const key = `${pattern} ${timeZone}`;
  const known = gaps.get(key);
  if (known !== undefined && known.last < now && now <= known.next) return known;
  const found = findGap(pattern, timeZone, now);
  if (gaps.size >= mostGaps) gaps.clear();
  gaps.set(key, found);
  return found;
}

function findGap(pattern: string, timeZone: string, now: number): Gap {
  for (let reachMs = hourMs; ; reachMs *= 6) {
    let last: number | null = null;
    for (const next of runsAfter(pattern, timeZone, now - reachMs)) {
      if (next < now) last = next;
      else if (last === null) break;
      else return { last, next };
    }
  }
}

/** The last time before `now` (epoch ms) at which a cron pattern, which must have due times, was due. */
export function previousRun(pattern: string, timeZone: string, now: number): number {
  return gapAt(pattern, timeZone, now).last;
}

/** A cron pattern, in an IANA time zone. */
type Timing = Readonly<Record<'pattern' | 'timeZone', string>>;

/** A schedule that is so since a moment (epoch ms; null: always). `owedAt`: when the one before came due without a run; null: it did not. */
interface Since extends Timing {
  readonly since: number | null;
  readonly owedAt: number | null;
}

/** When a schedule was due last; null: not since it is so, and the one before owed nothing. */
export function lastDue({ pattern, timeZone, since, owedAt }: Since, now: number): number | null {
  const last = previousRun(pattern, timeZone, now);
  return since === null || last >= since ? last : owedAt;
}

/** The same of the schedule that workers have agreed on; null: of `own`, because no worker has stored one. */
export function lastAgreedDue(agreed: Since | null, own: Timing, now: number): number | null {
  return agreed === null ? previousRun(own.pattern, own.timeZone, now) : lastDue(agreed, now);
}

/** The next time after `now` (epoch ms) at which a cron pattern is due. */
export function nextRun(pattern: string, timeZone: string, now: number): number {
  return gapAt(pattern, timeZone, Math.floor(now) + 1).next;
}

/** Whether a schedule is next due when its pattern says so. */
export function isOnTime({ pattern, timeZone, nextRunAt }: Timing & { readonly nextRunAt: number }): boolean {
  return nextRun(pattern, timeZone, nextRunAt - 1) === nextRunAt;
}

/**
 * When a cron pattern is due after `from` (epoch ms), in order. A local time that the clocks skip is due by as much later; one
 * that they repeat is due once, except in an hourly pattern. cron-parser itself skips nights, or throws, in zones whose clocks
 * change by half an hour.
 */
function* runsAfter(pattern: string, timeZone: string, from: number): Generator<number> {
  const isHourly = pattern.trim().split(/\s+/).at(-4) === '*';
  const hands = Temporal.Instant.fromEpochMilliseconds(Math.floor(from)).toZonedDateTimeISO(timeZone);
  const currentDate = new Date(hands.epochMilliseconds + hands.offsetNanoseconds / 1e6 - mostRepeatedMs);
  const dates = CronExpressionParser.parse(pattern, { tz: 'UTC', currentDate });
  let waiting: number[] = [];
  for (let last = from; ; ) {
    const local = Temporal.PlainDateTime.from(new Date(dates.next().getTime()).toISOString().slice(0, -1));
    const moments = momentsOf(local, timeZone, isHourly);
    const reached = Math.min(...moments);
    waiting = [...waiting, ...moments].toSorted((a, b) => a - b);
    const due = waiting.filter((at) => at <= reached);
    waiting = waiting.slice(due.length);
    for (const at of due) {
      if (at <= last) continue;
      yield at;
      last = at;
    }
  }
}

/** When (epoch ms) the clocks show a local time: once, or twice with `both`; of a skipped time, as much later. */
function momentsOf(local: Temporal.PlainDateTime, timeZone: string, both: boolean): readonly number[] {
  const first = local.toZonedDateTime(timeZone);
  const second = local.toZonedDateTime(timeZone, { disambiguation: 'later' });
  return both && !second.equals(first)
    ? [first.epochMilliseconds, second.epochMilliseconds]
    : [first.epochMilliseconds];
}
