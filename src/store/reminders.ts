import { epochMs, type Queryable } from './database.ts';
import { senderColumns, type SentBy } from './mail-sender.ts';
import { timestamp } from './timestamp.ts';

export type ReminderState = 'scheduled' | 'sending' | 'sent' | 'cancelled' | 'missed' | 'failed';

/** One mail that is owed to one recipient because of a lead's follow-up. Times are epoch ms. */
export interface Reminder extends SentBy {
  readonly id: number;
  readonly connection: string;
  readonly leadId: string;
  readonly dueAt: number;
  /** How long before the due moment, as in the settings: `0m`, `1d`. */
  readonly offsetText: string;
  readonly sendAt: number;
  /** In small letters. */
  readonly recipient: string;
  readonly state: ReminderState;
  /** Goes up with each date that was moved: the SEQUENCE of a calendar entry. */
  readonly sequence: number;
  /** How often it was tried to send it. */
  readonly attempts: number;
  /** How often it was begun again though nobody knew what had become of it. */
  readonly resends: number;
  /** How often the mail server itself left that open. */
  readonly unknownOutcomes: number;
  /** Null: not so far. */
  readonly firstTriedAt: number | null;
  /** Goes up each time it is scheduled anew: a job of another round is not its job any more. */
  readonly round: number;
  /** When its state was last written. */
  readonly updatedAt: number;
}

/** A reminder as people look at it. */
export interface ListedReminder extends Reminder {
  readonly note: string | null;
}

/** What is wanted for one lead; the rest that is scheduled for it is cancelled. */
export interface WantedForLead {
  readonly leadId: string;
  /** Epoch ms, as agreed on, also when nobody is reminded of it; null: nothing is due. */
  readonly agreedDueAt: number | null;
  readonly sequence: number;
  readonly reminders: readonly {
    readonly offsetText: string;
    readonly sendAt: number;
    readonly recipient: string;
  }[];
}

/** Why a mail is missed that a state from before a restore may have sent. */
export const mayBeSent = 'it was due before the state was restored from a backup: it may have been sent';

const columns = `id, connection, lead_id as "leadId", ${epochMs('due_at')} as "dueAt",
  offset_text as "offsetText", ${epochMs('send_at')} as "sendAt", recipient, state, sequence,
  attempts, resends, unknown_outcomes as "unknownOutcomes", ${epochMs('first_tried_at')} as "firstTriedAt", round, ${epochMs('updated_at')} as "updatedAt",
  ${senderColumns('reminders')}`;

/**
 * Schedules what is wanted for some leads and cancels what was scheduled for them and is not wanted any more. What was
 * sent, failed or missed stays so for good; what was cancelled is scheduled again, what is being sent is left alone.
 *
 * What is new, or comes again, and is past already is left out, unless it is the last that somebody is to get for the
 * follow-up. That one is sent now: one for a time before the due moment is late only from now on, since nobody could have
 * sent it. When the due moment, too, lies back for longer than `graceMs` it is `missed` with a note, so that the first sync
 * of an old table floods nobody. Missed is, too, what the first sync after a restore finds due before that: it may have been sent.
 */
export async function replaceReminders(
  db: Queryable,
  connection: string,
  leads: readonly WantedForLead[],
  graceMs: number,
): Promise<void> {
  const wanted = leads.flatMap(({ leadId, agreedDueAt, sequence, reminders }) =>
    agreedDueAt === null
      ? []
      : reminders.map((reminder) => ({ leadId, dueAt: timestamp(agreedDueAt), sequence, ...reminder })),
  );
  const keys = [
    wanted.map(({ leadId }) => leadId),
    wanted.map(({ dueAt }) => dueAt),
    wanted.map(({ offsetText }) => offsetText),
    wanted.map(({ recipient }) => recipient),
  ];
  await db.query(
    `update reminders m set state = 'cancelled', updated_at = now(), note =
       case when l.due_at = m.due_at then 'nobody is to be mailed then any more: the stage, the recipient or the settings changed'
         else 'the follow-up was moved, cleared or deleted' end
     from unnest($2::text[], $3::timestamptz[]) as l (lead_id, due_at)
     where m.connection = $1 and m.lead_id = l.lead_id and m.state = 'scheduled'
       and (m.lead_id, m.due_at, m.offset_text, m.recipient) not in
         (select * from unnest($4::text[], $5::timestamptz[], $6::text[], $7::text[]))`,
    [
      connection,
      leads.map(({ leadId }) => leadId),
      leads.map(({ agreedDueAt }) => (agreedDueAt === null ? null : timestamp(agreedDueAt))),
      ...keys,
    ],
  );
  if (wanted.length === 0) return;
  await db.query(
    `insert into reminders (connection, lead_id, due_at, offset_text, recipient, send_at, sequence, state, note)
     select $1, lead_id, due_at, offset_text, recipient,
       case when is_new and not (is_old or may_be_sent) and send_at < due_at then date_trunc('milliseconds', now())
         -- What is late already was perhaps put off: that is not taken back.
         when put_at is not null then greatest(put_at, send_at) else send_at end, sequence,
       case when is_new and (is_old or may_be_sent) then 'missed' else 'scheduled' end,
       case when is_new and may_be_sent then '${mayBeSent}' when is_new and is_old
         then 'it could not be sent in time: the follow-up was overdue for longer than the time of grace when it became known' end
     from (select n.*, max(n.send_at) over (partition by n.lead_id, n.recipient) as last,
           n.send_at <= now() and coalesce(o.state = 'cancelled', true) as is_new,
           case when n.send_at <= now() and o.state = 'scheduled' then o.send_at end as put_at,
           greatest(n.send_at, n.due_at) < now() - $8 * interval '1 ms' as is_old,
           coalesce(n.send_at <= (select restored_at from keeper where (select count(*) from runs where connection = $1
             and mode = 'sync' and status in ('succeeded', 'partial') and finished_at > restored_at) < 2), false) as may_be_sent
         from unnest($2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::timestamptz[], $7::int[])
           as n (lead_id, due_at, offset_text, recipient, send_at, sequence)
           left join reminders o on o.connection = $1 and o.lead_id = n.lead_id and o.due_at = n.due_at
             and o.offset_text = n.offset_text and o.recipient = n.recipient) n
     where send_at = last or not is_new
     on conflict (connection, lead_id, due_at, offset_text, recipient) do update
       set state = excluded.state, sequence = excluded.sequence, note = excluded.note, updated_at = now(),
         send_at = excluded.send_at,
         attempts = case when reminders.state = 'cancelled' then 0 else reminders.attempts end,
         first_tried_at = case when reminders.state = 'cancelled' then null else reminders.first_tried_at end, round = reminders.round + 1
     where reminders.state = 'cancelled' or (reminders.state = 'scheduled'
       and (reminders.send_at, reminders.sequence) is distinct from (excluded.send_at, excluded.sequence))`,
    [
      connection,
      ...keys,
      wanted.map(({ sendAt }) => timestamp(sendAt)),
      wanted.map(({ sequence }) => sequence),
      graceMs,
    ],
  );
}

/**
 * Settles what could not be sent in time: what is later than `graceMs` is missed, and so is what a later reminder of the
 * same follow-up says as well. The rest is put off to `next` (epoch ms), when that is not now because no mail may leave.
 */
export async function settleLate(
  db: Queryable,
  connection: string,
  graceMs: number,
  next: number | null,
): Promise<void> {
  await db.query(
    `update reminders set state = 'missed', updated_at = now(), note = 'it could not be sent in time, nor within the time of grace'
     where connection = $1 and state = 'scheduled' and send_at < now() - $2 * interval '1 ms'`,
    [connection, graceMs],
  );
  await db.query(
    `update reminders m set state = 'missed', updated_at = now(), note = 'it could not be sent in time; a later reminder says the same'
     where connection = $1 and state = 'scheduled' and send_at < now() and exists (
       select from reminders o where o.connection = $1 and o.lead_id = m.lead_id and o.due_at = m.due_at
         and o.recipient = m.recipient and o.state in ('scheduled', 'sending', 'sent')
         and o.send_at > m.send_at and o.send_at <= now())`,
    [connection],
  );
  if (next === null) return;
  await db.query(
    `update reminders set send_at = $2::timestamptz, round = round + 1, updated_at = now()
     where connection = $1 and state = 'scheduled' and send_at <= now()`,
    [connection, timestamp(next)],
  );
}

/** Cancels all that is scheduled for a connection that has no reminders any more. */
export async function cancelReminders(db: Queryable, connection: string): Promise<void> {
  await db.query(
    `update reminders set state = 'cancelled', note = 'the connection has no reminders any more', updated_at = now()
     where connection = $1 and state = 'scheduled'`,
    [connection],
  );
}

/** What is to be sent (of one lead, or all) within `horizonMs`, or was begun and is not finished; soonest first. */
export async function dueReminders(
  db: Queryable,
  connection: string,
  horizonMs: number,
  leadId: string | null = null,
): Promise<readonly Reminder[]> {
  const { rows } = await db.query<Reminder>(
    `select ${columns} from reminders where connection = $1 and state in ('scheduled', 'sending')
       and send_at < now() + $2 * interval '1 ms' and ($3::text is null or lead_id = $3) order by send_at, id`,
    [connection, horizonMs, leadId],
  );
  return rows;
}

/** For each id in its order; null: there is none. */
export async function getReminders(
  db: Queryable,
  ids: readonly number[],
): Promise<readonly (Reminder | null)[]> {
  const { rows } = await db.query<Reminder>(`select ${columns} from reminders where id = any($1)`, [ids]);
  const byId = new Map(rows.map((reminder) => [reminder.id, reminder]));
  return ids.map((id) => byId.get(id) ?? null);
}

/** The next reminders that are scheduled, soonest first, and how many there are. */
export async function comingReminders(
  db: Queryable,
  connection: string,
  limit: number,
): Promise<{ readonly count: number; readonly next: readonly Reminder[] }> {
  const { rows } = await db.query<Reminder & { total: number }>(
    // Counted apart, so that only the next ones are read and put in order.
    `select ${columns}, (select count(*)::int from reminders where connection = $1 and state = 'scheduled') as total
     from reminders where connection = $1 and state = 'scheduled' order by send_at, id limit $2`,
    [connection, limit],
  );
  return { count: rows[0]?.total ?? 0, next: rows.map(({ total: _, ...reminder }) => reminder) };
}

/** Reminders in some states: those that are to come first, soonest first, then the others, the latest change first. */
export async function listReminders(
  db: Queryable,
  connection: string,
  states: readonly ReminderState[],
  limit: number,
): Promise<readonly ListedReminder[]> {
  const { rows } = await db.query<ListedReminder>(
    `select ${columns}, note from reminders
     where connection = $1 and state = any($2)
     order by case when state in ('scheduled', 'sending') then send_at end, updated_at desc, id desc limit $3`,
    [connection, states, limit],
  );
  return rows;
}

/** Reminders that did not go as they should. */
export interface LateReminders {
  /** Should have been sent more than five minutes ago. */
  readonly late: number;
  /** Failed or missed within the last seven days. */
  readonly failed: number;
}

export async function lateReminders(db: Queryable, connection: string): Promise<LateReminders> {
  const { rows } = await db.query<LateReminders>(
    `select count(*) filter (where state in ('scheduled', 'sending') and send_at < now() - interval '5 minutes')::int as late,
       count(*) filter (where state in ('failed', 'missed') and updated_at > now() - interval '7 days')::int as failed
     from reminders where connection = $1`,
    [connection],
  );
  return rows[0] ?? { late: 0, failed: 0 };
}
