import type { ReminderRules } from '../../../src/config/config.ts';
import type { Value } from '../../../src/core/lead/value.ts';
import { planReminders } from '../../../src/reminders/plan/plan-reminders.ts';
import { advanceBaselines } from '../../support/advance-baselines.ts';
import { type Reminder, listReminders } from '../../../src/store/mails.ts';
import { dueReminders } from '../../support/due-mails.ts';
import { reminderConnection } from '../../support/reminder-rules.ts';
import type { Scene } from '../store/store-scene.ts';

export const hour = 3_600_000;
export const day = 24 * hour;

/** An instant n ms from now, in the one form of instants. */
export const at = (fromNow: number) => new Date(Date.now() + fromNow).toISOString();

/** What both sides agree on from now on. */
export const agree = (
  { pool, connection }: Scene,
  leadId: string,
  nextFollowUpAt: Value,
  more: Readonly<Record<string, Value>> = {},
) => advanceBaselines(pool, connection, [{ leadId, values: { nextFollowUpAt, ...more } }]);

/** Plans, and returns what is due within two hours, soonest first. */
export async function plan({ pool, connection }: Scene, rules: Partial<ReminderRules> = {}) {
  await planReminders(pool, reminderConnection(connection, rules));
  return dueReminders(pool, [connection]);
}

/** Each reminder as `lead recipient state`, by due moment. */
export async function states({ pool, connection }: Scene): Promise<readonly string[]> {
  const { rows } = await pool.query<{ told: string }>(
    `select lead_id || ' ' || recipient || ' ' || state as told from mails where kind <> 'digest' and connection = $1
     order by due_at, send_at, id`,
    [connection],
  );
  return rows.map(({ told }) => told);
}

export async function all({ pool, connection }: Scene): Promise<readonly Reminder[]> {
  return listReminders(
    pool,
    connection,
    ['scheduled', 'sending', 'sent', 'cancelled', 'missed', 'failed'],
    100,
  );
}

export async function only(here: Scene): Promise<Reminder> {
  const [reminder, ...others] = await all(here);
  if (reminder === undefined || others.length > 0) throw new Error('there is not exactly one reminder');
  return reminder;
}
