import { overdueAtFirst } from './reminders.ts';
import { columnOf, countOf, epochMs, oneOf, type Queryable, rowsOf, timestamp } from './database.ts';

/** A mail that is owed to one recipient. Times are epoch ms. */
interface OwedMail<State extends string> {
  readonly id: number;
  readonly connection: string;
  /** In small letters. */
  readonly recipient: string;
  readonly sendAt: number;
  readonly state: State;
  readonly note: string | null;
  readonly attempts: number;
  /** How often it was begun again with an unknown outcome. */
  readonly resends: number;
  /** How often the mail server itself left that open. */
  readonly unknownOutcomes: number;
  /** Null: not so far. */
  readonly firstTriedAt: number | null;
  /** When a worker first took it up. Null: not so far. */
  readonly takenAt: number | null;
  /** When its state was last written. */
  readonly updatedAt: number;
  /** Goes up with each date that was moved: the SEQUENCE of a calendar entry. Of a digest 0. */
  readonly sequence: number;
}

export const reminderStates = [
  'scheduled',
  'sending',
  'sent',
  'skipped',
  'cancelled',
  'missed',
  'failed',
] as const;
export type ReminderState = (typeof reminderStates)[number];

/** A mail about a lead's follow-up, or about the calendar entry of an earlier one. */
export interface Reminder extends OwedMail<ReminderState> {
  readonly kind: 'reminder' | 'moved' | 'cancel';
  readonly leadId: string;
  readonly dueAt: number;
  /** How long before the due moment, as in the settings: `0m`, `1d`; empty unless it is a reminder. */
  readonly offsetText: string;
  /** Whether the recipient gets a digest in the same minute that is not sent or given up yet. */
  readonly awaitsDigest: boolean;
  /** The same mail of another connection, whose process sends it or has ended it; null: there is none. */
  readonly told: { readonly id: number; readonly state: 'sending' | 'sent' | 'failed' } | null;
}

type DigestState = 'scheduled' | 'sending' | 'sent' | 'skipped' | 'missed' | 'failed';

/** A recipient's one mail of a day about all that is due, across connections; `connection`: the one that sends it. */
export interface Digest extends OwedMail<DigestState> {
  readonly kind: 'digest';
  /** In the recipient's zone, `2026-11-21`. */
  readonly localDate: string;
}

/** Whether a digest and a reminder are of the same minute; the date is there for the index. */
const isSameMinute = (digest: string, reminder: string): string =>
  `date_trunc('minute', ${digest}.send_at) = date_trunc('minute', ${reminder}.send_at) and ${digest}.local_date between
    (${reminder}.send_at - interval '2 days')::date and (${reminder}.send_at + interval '2 days')::date`;

/** Whether two reminders say the same to the same person: one connection sends it for all that know the lead. */
export const isSameMail = (one: string, other: string): string =>
  `${one}.kind = 'reminder' and ${other}.kind = 'reminder' and ${one}.lead_id = ${other}.lead_id
     and ${one}.recipient = ${other}.recipient and ${one}.offset_text = ${other}.offset_text and ${one}.service = ${other}.service
     and shown_minute(${one}.due_at) = shown_minute(${other}.due_at) and ${one}.id <> ${other}.id`;

/** What tells a mail from others about the same lead and date, in messages: `1d`, `moved 3`. */
export const mailName = ({ kind, offsetText, sequence }: Reminder): string =>
  kind === 'reminder' ? offsetText : `${kind} ${sequence}`;

const columns = `id, connection, kind, recipient, lead_id as "leadId", ${epochMs('due_at')} as "dueAt", offset_text as "offsetText",
  kind = 'reminder' and state = 'scheduled' and exists (select from mails d where d.kind = 'digest'
    and d.recipient = mails.recipient and d.state in ('scheduled', 'sending') and ${isSameMinute('d', 'mails')}) as "awaitsDigest",
  case when kind = 'reminder' and state = 'scheduled' then (select json_build_object('id', o.id, 'state', o.state) from mails o
    where o.state in ('sending', 'sent', 'failed') and ${isSameMail('o', 'mails')}) end as told,
  sequence, local_date::text as "localDate", ${epochMs('send_at')} as "sendAt", state, note, attempts, resends,
  unknown_outcomes as "unknownOutcomes", ${epochMs('first_tried_at')} as "firstTriedAt", ${epochMs('taken_at')} as "takenAt",
  ${epochMs('updated_at')} as "updatedAt"`;

function select<Mail extends Reminder | Digest>(
  db: Queryable,
  which: string,
  values: readonly unknown[],
): Promise<readonly Mail[]> {
  return rowsOf(db, `select ${columns} from mails where ${which}`, [...values]);
}

/** What is due about a lead and not sent yet; soonest first. */
export function dueReminders(
  db: Queryable,
  connection: string,
  leadId: string,
): Promise<readonly Reminder[]> {
  const which = `kind <> 'digest' and connection = $1 and lead_id = $2 and state in ('scheduled', 'sending')
    and send_at < now() order by send_at, id`;
  return select(db, which, [connection, leadId]);
}

/** In the order of their ids; those that are not there are left out. */
export async function getMails(
  db: Queryable,
  ids: readonly number[],
): Promise<readonly (Reminder | Digest)[]> {
  const found = new Map((await select(db, 'id = any($1)', [ids])).map((mail) => [mail.id, mail]));
  return ids.flatMap((id) => found.get(id) ?? []);
}

/**
 * The ids of the scheduled reminders about these follow-ups, of all connections that know the lead, that go to a digest's
 * recipient in the same minute.
 */
export function besidesDigest(
  db: Queryable,
  digestId: number,
  followUps: readonly Pick<Reminder, 'connection' | 'leadId' | 'dueAt'>[],
): Promise<readonly number[]> {
  return columnOf(
    db,
    `select m.id from mails d, unnest($2::text[], $3::text[], $4::timestamptz[]) as f (connection, lead_id, due_at)
       join follow_ups o on o.connection = f.connection and o.lead_id = f.lead_id
       join mails m on m.lead_id = f.lead_id and m.service = o.service and shown_minute(m.due_at) = shown_minute(f.due_at)
     where d.id = $1 and m.kind = 'reminder' and m.state = 'scheduled' and m.recipient = d.recipient
       and ${isSameMinute('d', 'm')}`,
    [
      digestId,
      followUps.map(({ connection }) => connection),
      followUps.map(({ leadId }) => leadId),
      followUps.map(({ dueAt }) => timestamp(dueAt)),
    ],
  );
}

/** The next reminders that are scheduled, soonest first, and how many there are. */
export async function comingReminders(
  db: Queryable,
  connection: string,
  limit: number,
): Promise<{ readonly count: number; readonly next: readonly Reminder[] }> {
  const which = `connection = $1 and kind <> 'digest' and state = 'scheduled'`;
  // Counted apart, so that only the next ones are read and put in order.
  const next = await select<Reminder>(db, `${which} order by send_at, id limit $2`, [connection, limit]);
  return { count: await countOf(db, `from mails where ${which}`, [connection]), next };
}

/** Reminders in some states: pending ones, soonest first; then the others, latest change first. */
export function listReminders(
  db: Queryable,
  connection: string,
  states: readonly ReminderState[],
  limit: number,
): Promise<readonly Reminder[]> {
  const which = `connection = $1 and kind <> 'digest' and state = any($2)
    order by case when state in ('scheduled', 'sending') then send_at end, updated_at desc, id desc limit $3`;
  return select(db, which, [connection, states, limit]);
}

export function listDigests(db: Queryable, connection: string, limit: number): Promise<readonly Digest[]> {
  const which = `connection = $1 and kind = 'digest' order by send_at desc, id desc limit $2`;
  return select(db, which, [connection, limit]);
}

export function countDueMails(db: Queryable, connections: readonly string[]): Promise<number> {
  return countOf(
    db,
    `from mails
     where connection = any($1) and state in ('scheduled', 'sending') and send_at <= now()`,
    [connections],
  );
}

/** Reminders that did not go as they should. */
export interface LateReminders {
  /** Should have been sent more than five minutes ago. */
  readonly late: number;
  /** Failed or missed within the last seven days; without those that were overdue on the first day. */
  readonly failed: number;
}

export function lateReminders(db: Queryable, connection: string): Promise<LateReminders> {
  return oneOf(
    db,
    `select count(*) filter (where state in ('scheduled', 'sending') and send_at < now() - interval '5 minutes')::int as late,
       count(*) filter (where state in ('failed', 'missed') and note is distinct from $2 and updated_at > now() - interval '7 days')::int as failed
     from mails where connection = $1 and kind <> 'digest'`,
    [connection, overdueAtFirst],
  );
}
