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
import type { ReminderRules } from '../../config/reminder-rules.ts';
import { nextAllowed } from './send-time.ts';

/**
 * Schedules the next digest for everybody who has something to follow up by then (after planReminders, which says who).
 * One that could not be sent is caught up as long as it is its day and within the time of grace; after a longer downtime
 * that is one digest for each recipient, not one for each day. Returns those that are to be sent within two hours,
 * soonest first; of those that are late already `sendAt` is past.
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
