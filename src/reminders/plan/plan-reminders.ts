import type pg from 'pg';
import { type ConnectionConfig, recipientRules, type ReminderRules } from '../../config/config.ts';
import { shortHash } from '../../core/lead/content-hash.ts';
import { followUpField } from '../../core/lead/mapping.ts';
import { isImplausible } from '../../core/lead/follow-up.ts';
import { isUuid } from '../../core/lead/lead-id.ts';
import type { Cells } from '../../core/lead/value.ts';
import { transaction } from '../../store/database.ts';
import {
  beginPlanning,
  type ChangedFollowUp,
  changedFollowUps,
  forgetFollowUps,
  type NewPlan,
  notePlanned,
  plannedFollowUp,
  planningBasis,
  saveFollowUps,
  seenNothing,
} from '../../store/follow-ups.ts';
import { isOutside } from '../../store/pairs.ts';
import {
  cancelReminders,
  type MomentByRecipient,
  replaceReminders,
  scheduleNotices,
  settleLate,
  type WantedForLead,
} from '../../store/reminders.ts';
import { serviceScope } from '../../store/services.ts';
import { dueFor, nextAllowed, openDays, type WantedReminder, wantedReminders } from './send-time.ts';
import { stageField } from './recipients.ts';

const batchSize = 20_000;

/** Increase when the same settings change their meaning. */
const rulesVersion = 2;

/**
 * Brings a connection's reminders in line with its agreed follow-ups: schedules new ones, cancels those moved, cleared,
 * deleted or no longer wanted, and settles late ones. Considers leads only after a new run or changed settings. Safe to run
 * concurrently.
 */
export async function planReminders(
  pool: pg.Pool,
  { name, leads, fields, reminders }: Pick<ConnectionConfig, 'name' | 'leads' | 'fields' | 'reminders'>,
): Promise<void> {
  const isMapped = fields.some(({ field, type }) => field === followUpField && type === 'instant');
  if (reminders === undefined || !isMapped) {
    await planning(pool, name, async (client) => {
      await cancelReminders(client, name);
      await forgetFollowUps(client, name);
    });
    return;
  }
  const { rules } = reminders;
  const hash = rulesHash(rules, leads);
  // Read first: a run that begins meanwhile is a new basis.
  const basis = await planningBasis(pool, name, hash);
  let after: string | null = basis?.isPlanned ? null : '';
  while (after !== null) {
    const from: string = after;
    after = await planning(pool, name, (client) => planBatch(client, { name, leads }, rules, hash, from));
  }
  if (basis !== null && !basis.isPlanned) await notePlanned(pool, name, basis.run, hash);
  await planning(pool, name, async (client, now) => {
    await settleLate(client, name, rules.graceMs, nextFor(now, rules));
    if (reminders.calendar) await scheduleNotices(client, name, nextFor(now, rules), openDays(now, rules));
  });
}

/** A transaction that alone plans the mails of a connection. `now`: the database's time (epoch ms). */
export function planning<Result>(
  pool: pg.Pool,
  connection: string,
  plan: (client: pg.PoolClient, now: number) => Promise<Result>,
): Promise<Result> {
  return transaction(pool, async (client) => plan(client, await beginPlanning(client, connection)));
}

/**
 * Plans one lead from what the service shows now (`cells`; null: gone), until the next sync; baselines stay. When nobody is to be reminded the
 * next planning checks again.
 */
export async function planFromRead(
  pool: pg.Pool,
  { name, leads, reminders }: Pick<ConnectionConfig, 'name' | 'leads' | 'reminders'>,
  leadId: string,
  cells: Cells | null,
): Promise<void> {
  if (reminders === undefined) return;
  const { rules } = reminders;
  await planning(pool, name, async (client, now) => {
    const planned = await plannedFollowUp(client, name, leadId);
    const mailed = (await isOutside(client, name, leadId)) ? null : cells;
    const seen = planned?.seen ?? seenNothing;
    const { plan, wanted } = planLead(leads, { leadId, seen, cells: mailed, planned }, rules);
    await replaceReminders(client, name, [wanted]);
    const isWanted = wanted.reminders.length > 0;
    await saveFollowUps(client, name, [isWanted ? plan : { ...plan, seen: seenNothing }], isWanted);
    if (reminders.calendar)
      await scheduleNotices(client, name, nextFor(now, rules), openDays(now, rules), leadId);
  });
}

/** Returns the last lead of the batch, or null at the end. */
async function planBatch(
  client: pg.PoolClient,
  { name, leads }: Pick<ConnectionConfig, 'name' | 'leads'>,
  rules: ReminderRules,
  hash: string,
  after: string,
): Promise<string | null> {
  const changed = await changedFollowUps(client, name, decidingFields(rules), hash, after, batchSize);
  if (changed.length > 0) {
    const planned = changed.map((lead) => planLead(leads, lead, rules));
    const wanted = planned.map((one) => one.wanted);
    await replaceReminders(client, name, wanted);
    const plans = planned.map(({ plan }) => plan);
    await saveFollowUps(client, name, plans);
  }
  return changed.length < batchSize ? null : (changed.at(-1)?.leadId ?? null);
}

function planLead(
  leads: ConnectionConfig['leads'],
  { leadId, seen, cells, planned }: Omit<ChangedFollowUp, 'cells'> & { readonly cells: Cells | null },
  rules: ReminderRules,
): { readonly plan: NewPlan; readonly wanted: WantedForLead } {
  const agreedDueAt = cells === null ? null : dueMoment(cells);
  const { recipients, reminders } =
    cells === null || agreedDueAt === null
      ? { recipients: [], reminders: [] }
      : wantedReminders({ leadId, dueAt: agreedDueAt, cells }, rules);
  // Without reminders, also not in the digest.
  const dueAt = recipients.length === 0 ? null : agreedDueAt;
  const service = whoseLead(leads, leadId);
  const isSame =
    shownMinute(planned?.dueAt ?? null) === shownMinute(dueAt) &&
    planned?.recipients.join() === recipients.join();
  const sequence = planned === null ? 0 : planned.sequence + (isSame ? 0 : 1);
  return {
    plan: { leadId, service, seen, dueAt, recipients, sequence },
    wanted: {
      leadId,
      service,
      agreedDueAt,
      sequence,
      reminders: agreedDueAt === null ? [] : reminders.map((one) => withLimits(one, agreedDueAt, rules)),
    },
  };
}

/** A reminder and from when on it is late. `graceMs` counts from the mail's moment, but no day is missed before it is over. */
function withLimits(reminder: WantedReminder, dueAt: number, rules: ReminderRules) {
  const { at, overdueFrom } = dueFor(dueAt, recipientRules(rules, reminder.recipient));
  const missedFrom = Math.max(Math.max(reminder.sendAt, at) + rules.graceMs, overdueFrom);
  return { ...reminder, overdueFrom, missedFrom };
}

function nextFor(now: number, rules: ReminderRules): MomentByRecipient {
  const own = Object.entries(rules.timeZones).map(([recipient, timeZone]): [string, number] => [
    recipient,
    nextAllowed(now, { ...rules, timeZone }),
  ]);
  return { usual: nextAllowed(now, rules), own: Object.fromEntries(own) };
}

/** The due moment (epoch ms); null: none, or in a year that nobody means. */
export function dueMoment(cells: Cells): number | null {
  const text = cells[followUpField] ?? null;
  if (typeof text !== 'string' || isImplausible(text, { field: followUpField, type: 'instant' })) return null;
  const dueAt = Date.parse(text);
  return Number.isNaN(dueAt) ? null : dueAt;
}

/** The minute (epoch ms) in which a moment is shown: what differs within it is not mailed again. As `shown_minute` in the database. */
export function shownMinute(at: number | null): number | null {
  return at === null ? null : Math.floor(at / 60_000) * 60_000;
}

function decidingFields({ skipStages, routes, toField }: ReminderRules): readonly [string, ...string[]] {
  const others = [
    ...(skipStages.length > 0 ? [stageField] : []),
    ...routes.flatMap(({ when }) => Object.keys(when)),
    ...(toField === null ? [] : [toField]),
  ];
  return [followUpField, ...new Set(others)];
}

/** A hash of all that planning depends on besides leads: settings, the service and time zone data. */
function rulesHash({ graceMs: _late, ...rules }: ReminderRules, leads: ConnectionConfig['leads']): string {
  return shortHash(JSON.stringify([rulesVersion, process.versions['tz'], rules, whoseLead(leads, '')]));
}

/** What an id means the same lead in: a UUID is the same lead for every key of a service, any other id may be of two accounts. */
export function whoseLead({ baseUrl, apiKey }: ConnectionConfig['leads'], leadId: string): string {
  return isUuid(leadId) ? baseUrl : serviceScope(baseUrl, apiKey.reveal());
}
