import type pg from 'pg';
import type { ConnectionConfig, ReminderRules } from '../../config/config.ts';
import { dropDigests, missDigests, scheduleDigests, settleDigests } from '../../store/digests.ts';
import { type Digest, dueDigests } from '../../store/mails.ts';
import { recipientsUntil } from '../../store/follow-ups.ts';
import { digestDays, digestsAround, localDateOf } from './digest-time.ts';
import { horizonMs, planning } from './plan-reminders.ts';
import { nextAllowed } from './send-time.ts';

/**
 * Schedules the next digest of everybody with a follow-up due by then (run planReminders first, which says who). A missed
 * digest is sent later on its day, within the grace period; a long downtime leads to one digest per recipient, not one per
 * day. Returns digests due within two hours, soonest first; late ones have a past `sendAt`.
 */
export async function planDigests(
  pool: pg.Pool,
  { name, reminders }: Pick<ConnectionConfig, 'name' | 'reminders'>,
): Promise<readonly Digest[]> {
  await planning(pool, name, (client, now) => planNext(client, now, name, reminders?.rules));
  return dueDigests(pool, name, horizonMs);
}

async function planNext(
  client: pg.PoolClient,
  now: number,
  connection: string,
  rules: ReminderRules | undefined,
): Promise<void> {
  const around = rules === undefined ? null : digestsAround(now, rules);
  if (rules === undefined || around === null) return dropDigests(client, connection);
  const { last, next } = around;
  const { timeZone } = rules;
  const recipients = (localDate: string): Promise<readonly string[]> =>
    recipientsUntil(client, connection, digestDays(localDate, timeZone).end);
  const missed = await settleDigests(client, connection, last, next);
  const day = localDateOf(now, timeZone);
  const canStillBeSent =
    last.localDate === day &&
    localDateOf(nextAllowed(now, rules), timeZone) === day &&
    now - last.sendAt <= rules.graceMs;
  if (!canStillBeSent) await missDigests(client, connection, last.localDate);
  else if (missed.length > 0) {
    const still = await recipients(last.localDate);
    const wanted = missed.filter((recipient) => still.includes(recipient));
    await scheduleDigests(client, connection, wanted, last);
  }
  await scheduleDigests(client, connection, await recipients(next.localDate), next);
}
