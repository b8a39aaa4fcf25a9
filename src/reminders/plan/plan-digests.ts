import type pg from 'pg';
import { type ConnectionConfig, recipientTimeZone } from '../../config/config.ts';
import { replaceDigests } from '../../store/reminders.ts';
import { everyConnection, firstDues } from '../../store/follow-ups.ts';
import { digestDays, digestsAround, type DigestTime, localDateOf, momentIn } from './local-time.ts';
import { planning } from './plan-reminders.ts';
import { nextAllowed } from './send-time.ts';
import type { Queryable } from '../../store/database.ts';
import { type HeldItem, listHeld } from '../../store/held.ts';
import { basesOf } from '../../store/pairs.ts';
import { recipientsOf } from './recipients.ts';

/** Ms ahead of now in which a follow-up may be in the next digest: a week without a working day, and the days it shows. */
const reachMs = 17 * 86_400_000;

/**
 * Schedules the next digest of everybody with a follow-up due by then in any of the connections `configured` (run planReminders first, which
 * says who), or something that waits for a decision. A missed digest is sent later on its day, within `graceMs`: one after a long downtime,
 * not one per day.
 */
export async function planDigests(pool: pg.Pool, configured: readonly WaitingHolder[]): Promise<void> {
  const names = configured.map(({ name }) => name);
  const withDigest = configured.filter(({ reminders }) => (reminders?.rules.digestAt ?? null) !== null);
  await planning(pool, everyConnection, async (client, now) => {
    const plan = digestPlanner(withDigest, now);
    const dues = await firstDues(
      client,
      withDigest.map(({ name }) => name),
      now + reachMs,
    );
    const wanted = new Map([...dues].map(([recipient, byConnection]) => [recipient, new Map(byConnection)]));
    for (const [recipient, items] of await waitingItems(client, withDigest)) {
      const own = wanted.get(recipient) ?? new Map<string, number>();
      for (const { connection } of items) own.set(connection, Math.min(now, own.get(connection) ?? now));
      wanted.set(recipient, own);
    }
    const plans = [...wanted].map(([recipient, byConnection]) => plan(recipient, byConnection));
    await replaceDigests(
      client,
      names,
      plans.filter((one) => one !== null),
    );
  });
}

export type DigestConnection = Pick<ConnectionConfig, 'name' | 'reminders'>;

interface DigestPlan {
  readonly recipient: string;
  /** The connection whose time, working days, sender, templates and queue they have. */
  readonly home: string;
  readonly last: DigestTime;
  readonly next: DigestTime;
  /** Whether the day of `last` is not over, nor the time in it at which mails may be sent. */
  readonly isToday: boolean;
  /** How late (ms) a digest is still sent on its day. */
  readonly graceMs: number;
}

/**
 * Plans the digests of persons (addresses in lower case) at a moment. A person's home is the first of `connections` that has a digest and a
 * follow-up of theirs due by then. `dues`: the first due moment of their follow-ups by connection. All epoch ms. Null: nothing is due.
 */
export function digestPlanner(
  connections: readonly DigestConnection[],
  now: number,
): (recipient: string, dues: ReadonlyMap<string, number>) => DigestPlan | null {
  // By connection and zone: most people share theirs.
  const known = new Map<string, Omit<DigestPlan, 'recipient'> | null>();
  return (recipient, dues) => {
    for (const { name, reminders } of connections) {
      const dueAt = dues.get(name);
      if (dueAt === undefined || reminders === undefined) continue;
      const { rules } = reminders;
      const timeZone = recipientTimeZone(rules, recipient);
      const key = `${name} ${timeZone}`;
      const around = known.get(key) ?? aroundOf(name, { ...rules, timeZone }, now);
      known.set(key, around);
      if (around === null) continue;
      const { end } = digestDays(around.next.localDate, timeZone);
      if (momentIn(timeZone, dueAt, rules.dayZone) < end) return { recipient, ...around };
    }
    return null;
  };
}

function aroundOf(
  home: string,
  rules: NonNullable<DigestConnection['reminders']>['rules'],
  now: number,
): Omit<DigestPlan, 'recipient'> | null {
  const around = digestsAround(now, rules);
  if (around === null) return null;
  const { timeZone, graceMs } = rules;
  const days = [now, nextAllowed(now, rules)].map((at) => localDateOf(at, timeZone));
  return { home, ...around, isToday: days.every((day) => day === around.last.localDate), graceMs };
}

export type WaitingHolder = Pick<ConnectionConfig, 'name' | 'reminders'> & {
  readonly sync: Pick<ConnectionConfig['sync'], 'match'>;
};

/** The oldest are told of: a list that nobody can work through says no more. */
const most = 1_000;

/**
 * What waits for a decision, by the recipient (lower case, or a chat) whose lead it is: of the connections with a digest. A row
 * without a lead is everybody's who gets the mails of leads without a route.
 */
export async function waitingItems(
  db: Queryable,
  configured: readonly WaitingHolder[],
): Promise<ReadonlyMap<string, readonly HeldItem[]>> {
  const rules = new Map(
    configured.flatMap(({ name, reminders }) =>
      (reminders?.rules.digestAt ?? null) === null || reminders === undefined
        ? []
        : [[name, reminders.rules] as const],
    ),
  );
  const held = await listHeld(
    db,
    configured.filter(({ name }) => rules.has(name)),
    { limit: most },
  );
  const waiting = new Map<string, HeldItem[]>();
  for (const [connection, items] of Map.groupBy(held.filter(isOpen), (item) => item.connection)) {
    const of = rules.get(connection);
    if (of === undefined) continue;
    const ids = items.flatMap((item) => (item.kind === 'calendar' ? [] : [item.leadId]));
    const bases = await basesOf(db, connection, [...new Set(ids)]);
    for (const item of items)
      for (const recipient of item.kind === 'calendar'
        ? [item.recipient]
        : recipientsOf(bases.get(item.leadId) ?? (item.kind === 'match' ? item.lead : {}), of))
        waiting.set(recipient, [...(waiting.get(recipient) ?? []), item]);
  }
  return waiting;
}

function isOpen(item: HeldItem): boolean {
  return item.kind === 'match' ? item.decided === null : item.resolution === null;
}
