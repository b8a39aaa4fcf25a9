import type pg from 'pg';
import type { ConnectionConfig } from '../../config/config.ts';
import { shortHash } from '../../core/lead/fingerprint.ts';
import type { Cells } from '../../core/lead/value.ts';
import { transaction } from '../../store/database.ts';
import { scheduleNotices } from '../../store/calendar-notices.ts';
import {
  type ChangedFollowUp,
  changedFollowUps,
  forgetFollowUps,
  type NewPlan,
  plannedFollowUp,
  saveFollowUps,
  seenNothing,
} from '../../store/follow-ups.ts';
import {
  cancelReminders,
  dueReminders,
  type Reminder,
  replaceReminders,
  settleLate,
  type WantedForLead,
} from '../../store/reminders.ts';
import { beginPlanning, notePlanned, planningBasis } from '../../store/planning.ts';
import { stageField } from './recipients.ts';
import type { ReminderRules } from '../../config/reminder-rules.ts';
import { nextAllowed } from './send-time.ts';
import { wantedReminders } from './wanted.ts';

/** The field that says when the next follow-up is due (API reference, section 2). */
export const followUpField = 'nextFollowUpAt';

/** How far ahead (ms) jobs are made: twice the time between two looks, so that none is missed. */
export const horizonMs = 2 * 3_600_000;

/** So many leads are planned in one transaction. */
const batchSize = 20_000;

/** To be counted up when the same settings come to mean something else. */
const rulesVersion = 1;

/**
 * Brings the reminders of a connection in line with the follow-ups that both sides agree on: schedules what is new,
 * cancels what was moved, cleared, deleted or is no longer asked for, and settles what is late. Leads are looked at
 * when a run has ended since the last time, or when the settings changed. Any number of processes may do this at once. Returns
 * the reminders that are to be sent within two hours, soonest first; of those that are late already `sendAt` is past.
 */
export async function planReminders(
  pool: pg.Pool,
  { name, fields, reminders }: Pick<ConnectionConfig, 'name' | 'fields' | 'reminders'>,
): Promise<readonly Reminder[]> {
  const isMapped = fields.some(({ field, type }) => field === followUpField && type === 'instant');
  if (reminders === undefined || !isMapped) {
    await withdrawReminders(pool, name);
    return [];
  }
  const { rules } = reminders;
  const hash = rulesHash(rules);
  // Looked at first: a run that begins meanwhile is another basis.
  const basis = await planningBasis(pool, name, hash);
  let after: string | null = basis?.isPlanned ? null : '';
  while (after !== null) {
    const from: string = after;
    after = await transaction(pool, (client) => planBatch(client, name, rules, hash, from));
  }
  if (basis !== null && !basis.isPlanned) await notePlanned(pool, name, basis.seen);
  await transaction(pool, async (client) => {
    const now = await beginPlanning(client, name);
    const next = nextAllowed(now, rules);
    await settleLate(client, name, rules.graceMs, next > now ? next : null);
  });
  if (reminders.calendar) {
    await transaction(pool, async (client) => {
      const now = await beginPlanning(client, name);
      await scheduleNotices(client, name, nextAllowed(now, rules));
    });
  }
  return dueReminders(pool, name, horizonMs);
}

/**
 * Plans one lead anew from what the service shows of it (`cells`; null: it is gone), which counts until the next sync: what
 * was agreed on is not touched. When nobody is to be reminded, the next planning looks again, because it may be as before.
 * Returns what is to be sent of it within two hours.
 */
export async function planFromRead(
  pool: pg.Pool,
  { name, reminders }: Pick<ConnectionConfig, 'name' | 'reminders'>,
  leadId: string,
  cells: Cells | null,
): Promise<readonly Reminder[]> {
  if (reminders === undefined) return [];
  const { rules } = reminders;
  await transaction(pool, async (client) => {
    const now = await beginPlanning(client, name);
    const planned = await plannedFollowUp(client, name, leadId);
    const { plan, wanted } = planLead({ leadId, seen: planned?.seen ?? seenNothing, cells, planned }, rules);
    await replaceReminders(client, name, [wanted], rules.graceMs);
    const isWanted = wanted.reminders.length > 0;
    await saveFollowUps(client, name, [isWanted ? plan : { ...plan, seen: seenNothing }], isWanted);
    if (reminders.calendar) await scheduleNotices(client, name, nextAllowed(now, rules), leadId);
  });
  const due = await dueReminders(pool, name, horizonMs, leadId);
  return due.filter(({ state }) => state === 'scheduled');
}

async function withdrawReminders(pool: pg.Pool, connection: string): Promise<void> {
  await transaction(pool, async (client) => {
    await beginPlanning(client, connection);
    await cancelReminders(client, connection);
    await forgetFollowUps(client, connection);
  });
}

/** Plans the leads after an id; returns the last one, or null when there are no more. */
async function planBatch(
  client: pg.PoolClient,
  connection: string,
  rules: ReminderRules,
  hash: string,
  after: string,
): Promise<string | null> {
  await beginPlanning(client, connection);
  const changed = await changedFollowUps(client, connection, decidingFields(rules), hash, after, batchSize);
  if (changed.length > 0) {
    const plans = changed.map((lead) => planLead(lead, rules));
    await replaceReminders(
      client,
      connection,
      plans.map(({ wanted }) => wanted),
      rules.graceMs,
    );
    await saveFollowUps(
      client,
      connection,
      plans.map(({ plan }) => plan),
    );
  }
  return changed.length < batchSize ? null : (changed.at(-1)?.leadId ?? null);
}

function planLead(
  { leadId, seen, cells, planned }: Omit<ChangedFollowUp, 'cells'> & { readonly cells: Cells | null },
  rules: ReminderRules,
): { readonly plan: NewPlan; readonly wanted: WantedForLead } {
  const agreedDueAt = cells === null ? null : dueMoment(cells);
  const { recipients, reminders } =
    cells === null || agreedDueAt === null
      ? { recipients: [], reminders: [] }
      : wantedReminders({ leadId, dueAt: agreedDueAt, cells }, rules);
  // A lead that nobody is reminded of is none of the digest either.
  const dueAt = recipients.length === 0 ? null : agreedDueAt;
  const isSame = planned?.dueAt === dueAt && planned.recipients.join() === recipients.join();
  const sequence = planned === null ? 0 : planned.sequence + (isSame ? 0 : 1);
  return {
    plan: { leadId, seen, dueAt, recipients, sequence },
    wanted: { leadId, agreedDueAt, sequence, reminders },
  };
}

/**
 * When a follow-up is due (epoch ms); null when it is none, or in a year that calendars and mails do not write in four
 * digits, which is a slip.
 */
function dueMoment(cells: Cells): number | null {
  const text = cells[followUpField] ?? null;
  if (typeof text !== 'string' || !/^\d{4}-/.test(text) || text.startsWith('0000')) return null;
  const dueAt = Date.parse(text);
  return Number.isNaN(dueAt) ? null : dueAt;
}

/** The fields by which it is decided who is mailed when; the due moment first. */
function decidingFields({
  skipStages,
  onlyStages,
  routes,
  toField,
}: ReminderRules): readonly [string, ...string[]] {
  const others = [
    ...(skipStages.length > 0 || onlyStages !== null ? [stageField] : []),
    ...routes.flatMap(({ when }) => Object.keys(when)),
    ...(toField === null ? [] : [toField]),
  ];
  return [followUpField, ...new Set(others)];
}

/** What all that is planned depends on but the leads: the settings, and what is known of the world's clocks. */
function rulesHash({ digestAt: _, graceMs: _late, ...rules }: ReminderRules): string {
  return shortHash(JSON.stringify([rulesVersion, process.versions['tz'], rules]));
}
