import type pg from 'pg';
import type { ConnectionConfig } from '../../config/config.ts';
import { transaction } from '../../store/database.ts';
import {
  type Digest,
  dropDigests,
  dueDigests,
  missDigests,
  scheduleDigests,
  settleDigests,
} from '../../store/digests.ts';
import { recipientsUntil } from '../../store/follow-ups.ts';
import { beginPlanning } from '../../store/planning.ts';
import { digestDays, digestsAround, localDateOf } from './digest-time.ts';
import { horizonMs } from './plan-reminders.ts';
import type { ReminderRules } from '../../config/config.ts';
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
  const rules = reminders?.rules;
  await transaction(pool, (client) => planNext(client, name, rules));
  return dueDigests(pool, name, horizonMs);
}

async function planNext(
  client: pg.PoolClient,
  connection: string,
  rules: ReminderRules | undefined,
): Promise<void> {
  const now = await beginPlanning(client, connection);
  const around = rules === undefined ? null : digestsAround(now, rules);
  if (rules === undefined || around === null) {
    return dropDigests(client, connection);
  }
  const { last, next } = around;
  const recipients = (localDate: string): Promise<readonly string[]> =>
    recipientsUntil(client, connection, digestDays(localDate, rules.timeZone).end);
  const missed = await settleDigests(client, connection, last, next);
  const day = localDateOf(now, rules.timeZone);
  const canStillBeSent =
    last.localDate === day &&
    localDateOf(nextAllowed(now, rules), rules.timeZone) === day &&
    now - last.sendAt <= rules.graceMs;
  if (!canStillBeSent) await missDigests(client, connection, last.localDate);
  else if (missed.length > 0) {
    const stillThere = await recipients(last.localDate);
    await scheduleDigests(
      client,
      connection,
      missed.filter((recipient) => stillThere.includes(recipient)),
      last,
    );
  }
  await scheduleDigests(client, connection, await recipients(next.localDate), next);
}
