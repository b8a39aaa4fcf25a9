import { type Queryable, timestamp } from './database.ts';

/** What is wanted for one lead; the rest that is scheduled for it is cancelled. */
export interface WantedForLead {
  readonly leadId: string;
  /** Whose lead it is; see `whoseLead`. */
  readonly service: string;
  /** Epoch ms, as agreed on, also without a reminder; null: nothing is due. */
  readonly agreedDueAt: number | null;
  readonly sequence: number;
  readonly reminders: readonly {
    readonly offsetText: string;
    readonly sendAt: number;
    readonly recipient: string;
    /** Epoch ms. Before it a mail that comes too late for its own time is no late one. */
    readonly overdueFrom: number;
    /** Epoch ms. A new one is not sent any more from then on. */
    readonly missedFrom: number;
  }[];
}

/** A moment (epoch ms) for everybody, and others for recipients in a time zone of their own (address in lower case). */
export interface MomentByRecipient {
  readonly usual: number;
  readonly own: Readonly<Record<string, number>>;
}

/** Why a mail is missed whose follow-up was overdue on the first day: nothing has failed. */
export const overdueAtFirst =
  'it could not be sent in time: the follow-up was overdue for more than 24 hours when leadsync first saw it';

/** Why a mail is missed that a state from before a restore may have sent. */
export const mayBeSent = 'it was due before the state was restored from a backup: it may have been sent';

/**
 * Schedules what is wanted for some leads and cancels what was scheduled for them and is not wanted any more. What was
 * sent, failed or missed stays so for good; what was cancelled is scheduled again, what is being sent is left alone.
 *
 * New reminders whose time has passed are left out, but for a recipient's last one for the follow-up. That one is sent now:
 * one for a follow-up that is not overdue is late only from now on, because it could not have been sent before. From
 * `missedFrom` on it is `missed` with a note, so that the first sync of an old table sends no flood. Missed is, too, what the first sync after a restore finds due before that: it may have been sent.
 */
export async function replaceReminders(
  db: Queryable,
  connection: string,
  leads: readonly WantedForLead[],
): Promise<void> {
  const wanted = leads.flatMap(({ leadId, service, agreedDueAt, sequence, reminders }) =>
    agreedDueAt === null
      ? []
      : reminders.map(({ sendAt, overdueFrom, missedFrom, ...mail }) => ({
          leadId,
          service,
          dueAt: timestamp(agreedDueAt),
          sequence,
          sendAt: timestamp(sendAt),
          overdueFrom: timestamp(overdueFrom),
          missedFrom: timestamp(missedFrom),
          ...mail,
        })),
  );
  const agreed = leads.map(({ leadId, agreedDueAt: at }) => ({
    leadId,
    dueAt: at === null ? null : timestamp(at),
  }));
  const mails = JSON.stringify(wanted);
  await db.query(
    `update mails m set state = 'cancelled', updated_at = now(), note =
       case when shown_minute(l."dueAt") = shown_minute(m.due_at) then 'no mail is due then any more: the stage, the recipient or the settings changed'
         else 'the follow-up was moved, cleared or deleted' end
     from json_to_recordset($2::json) as l ("leadId" text, "dueAt" timestamptz)
     where m.connection = $1 and m.lead_id = l."leadId" and m.state = 'scheduled'
       and (m.lead_id, shown_minute(m.due_at), m.offset_text, m.recipient) not in
         (select "leadId", shown_minute("dueAt"), "offsetText", recipient from json_to_recordset($3::json) as w ("leadId" text, "dueAt" timestamptz, "offsetText" text, recipient text))`,
    [connection, JSON.stringify(agreed), mails],
  );
  if (wanted.length === 0) return;
  await db.query(
    `insert into mails (connection, lead_id, service, due_at, offset_text, recipient, send_at, sequence, state, note)
     select $1, lead_id, service, due_at, offset_text, recipient,
       case when is_new and not (is_old or may_be_sent) and send_at < overdue_from then date_trunc('milliseconds', now())
         -- What is late already was perhaps put off: that is not taken back.
         when put_at is not null then greatest(put_at, send_at) else send_at end, sequence,
       case when is_new and (is_old or may_be_sent) then 'missed' else 'scheduled' end,
       case when is_new and may_be_sent then '${mayBeSent}' when is_new and is_old
         then '${overdueAtFirst}' end
     from (select n.*, max(n.send_at) over (partition by n.lead_id, n.recipient) as last,
           n.send_at <= now() and coalesce(o.state = 'cancelled', true) as is_new,
           case when n.send_at <= now() and o.state = 'scheduled' then o.send_at end as put_at,
           n.missed_from < now() as is_old,
           coalesce(n.send_at <= (select restored_at from keeper where (select count(*) from runs where connection = $1
             and mode = 'sync' and status in ('succeeded', 'partial') and finished_at > restored_at) < 2), false) as may_be_sent
         from json_to_recordset($2::json) as w ("leadId" text, service text, "dueAt" timestamptz, "offsetText" text, recipient text,
             "sendAt" timestamptz, "overdueFrom" timestamptz, "missedFrom" timestamptz, sequence int)
           cross join lateral (select "leadId", w.service, "dueAt", "offsetText", w.recipient, "sendAt", "overdueFrom",
             "missedFrom", w.sequence) as n (lead_id, service, due_at, offset_text, recipient, send_at, overdue_from, missed_from, sequence)
           left join mails o on o.connection = $1 and o.lead_id = n.lead_id
             and shown_minute(o.due_at) = shown_minute(n.due_at) and o.kind = 'reminder' and o.offset_text = n.offset_text and o.recipient = n.recipient) n
     where send_at = last or not is_new
     on conflict (connection, lead_id, shown_minute(due_at), kind, offset_text, change, recipient) where kind <> 'digest' do update
       set state = excluded.state, service = excluded.service, due_at = excluded.due_at, sequence = excluded.sequence, note = excluded.note, updated_at = now(),
         send_at = excluded.send_at,
         attempts = case when mails.state = 'cancelled' then 0 else mails.attempts end,
         first_tried_at = case when mails.state = 'cancelled' then null else mails.first_tried_at end, try_at = null
     where mails.state = 'cancelled' or (mails.state = 'scheduled'
       and (mails.send_at, mails.sequence, mails.service, mails.due_at)
         is distinct from (excluded.send_at, excluded.sequence, excluded.service, excluded.due_at))`,
    [connection, mails],
  );
}

/**
 * Settles what could not be sent in time: what is later than `graceMs` is missed, and so is what a later reminder of the
 * same follow-up says as well. The rest is put off to `next`, when that is not now because no mail may leave.
 */
export async function settleLate(
  db: Queryable,
  connection: string,
  graceMs: number,
  next: MomentByRecipient,
): Promise<void> {
  await db.query(
    `update mails set state = 'missed', updated_at = now(), note = 'it could not be sent in time, nor in the 24 hours after'
     where connection = $1 and kind <> 'digest' and state = 'scheduled' and send_at < now() - $2 * interval '1 ms'`,
    [connection, graceMs],
  );
  await db.query(
    `update mails m set state = 'missed', updated_at = now(), note = 'it could not be sent in time; a later reminder says the same'
     where connection = $1 and kind <> 'digest' and state = 'scheduled' and send_at < now() and exists (
       -- The kind is that of the index: without it all are compared with all.
       select from mails o where o.connection = $1 and o.lead_id = m.lead_id and shown_minute(o.due_at) = shown_minute(m.due_at) and o.kind <> 'digest'
         and o.recipient = m.recipient and o.state in ('scheduled', 'sending', 'sent', 'skipped')
         and o.send_at > m.send_at and o.send_at <= now())`,
    [connection],
  );
  await db.query(
    `update mails set send_at = ${momentOf}, updated_at = now()
     where connection = $1 and kind <> 'digest' and state = 'scheduled' and send_at <= now() and ${momentOf} > now()`,
    [connection, ...momentParameters(next)],
  );
}

/** The moment for the `recipient` of a row, out of `momentParameters` as `$2` and `$3`. */
const momentOf = `coalesce(($3::jsonb->>recipient)::timestamptz, $2::timestamptz)`;

function momentParameters({ usual, own }: MomentByRecipient): readonly string[] {
  const others = Object.entries(own).map(([recipient, at]) => [recipient, timestamp(at)]);
  return [timestamp(usual), JSON.stringify(Object.fromEntries(others))];
}

/** Cancels all that is scheduled for a connection that has no reminders any more. */
export async function cancelReminders(db: Queryable, connection: string): Promise<void> {
  await db.query(
    `update mails set state = 'cancelled', note = 'the connection has no reminders any more', updated_at = now()
     where connection = $1 and kind <> 'digest' and state = 'scheduled'`,
    [connection],
  );
}

/** Whether the date of a row lies ahead, `openDays` being `$4`. */
const isAhead = (row: string): string => `(${row}.due_at > now() or ${row}.due_at = any($4::timestamptz[]))`;

/**
 * Schedules at `sendAt` (epoch ms) a mail to everybody whose calendar entry, as the last mail about a lead told it, lies
 * ahead and is not so any more: one that moves it to the date of now, or takes it back when he is not reminded of the lead
 * any more, or puts it back on a date that a mail had told before: its reminder does not come twice.
 * None when a reminder does the same within an hour. One for each change; what was called off comes again.
 * `openDays`: due moments (epoch ms) that are days which are not over: their entries lie ahead. `leadId`: of this lead alone.
 */
export async function scheduleNotices(
  db: Queryable,
  connection: string,
  sendAt: MomentByRecipient,
  openDays: readonly number[],
  leadId: string | null = null,
): Promise<void> {
  await db.query(
    `insert into mails (connection, lead_id, service, due_at, kind, change, recipient, send_at, sequence)
     select $1, e.lead_id, f.service, coalesce(n.due_at, e.due_at), case when n.due_at is null then 'cancel' else 'moved' end, f.sequence,
       e.recipient, s.send_at, f.sequence
     from (select distinct on (lead_id, recipient) lead_id, recipient, due_at, kind from mails
         -- A chat channel has no calendar.
         where connection = $1 and kind <> 'digest' and state = 'sent' and recipient like '%@%' and ($5::text is null or lead_id = $5)
         order by lead_id, recipient, sequence desc, updated_at desc) e
       join follow_ups f on f.connection = $1 and f.lead_id = e.lead_id
       cross join lateral (select case when e.recipient = any(f.recipients) then f.due_at end as due_at) n
       cross join lateral (select ${momentOf.replace('recipient', 'e.recipient')} as send_at) s
     where case when e.kind <> 'cancel' then ${isAhead('e')} and shown_minute(n.due_at) is distinct from shown_minute(e.due_at)
         else ${isAhead('n')} and exists (select from mails o where o.connection = $1 and o.lead_id = e.lead_id
           and o.recipient = e.recipient and shown_minute(o.due_at) = shown_minute(n.due_at) and o.state = 'sent' and o.kind not in ('cancel', 'digest')) end
       and not exists (select from mails o where o.connection = $1 and o.lead_id = e.lead_id
         and o.recipient = e.recipient and shown_minute(o.due_at) = shown_minute(n.due_at) and o.state in ('scheduled', 'sending')
         and o.kind not in ('moved', 'digest') and o.send_at < s.send_at + interval '1 hour')
     on conflict (connection, lead_id, shown_minute(due_at), kind, offset_text, change, recipient) where kind <> 'digest' do update
       set state = 'scheduled', send_at = excluded.send_at, note = null, attempts = 0, first_tried_at = null,
         try_at = null, updated_at = now()
     where mails.state = 'cancelled'`,
    [connection, ...momentParameters(sendAt), openDays.map(timestamp), leadId],
  );
}

interface Day {
  /** In the zone of the recipient, `2026-11-21`. */
  readonly localDate: string;
  /** Epoch ms. */
  readonly sendAt: number;
}

/** The digests of a recipient around now. */
interface PlannedDigests {
  /** In lower case. */
  readonly recipient: string;
  /** The connection that they are sent by. */
  readonly home: string;
  readonly last: Day;
  readonly next: Day;
  /** Whether that of `last` may still be sent by its day; `graceMs` after its moment it is missed in any case. */
  readonly isToday: boolean;
  readonly graceMs: number;
}

/** `$1`: as `plannedJson` makes it. */
const planned = `json_to_recordset($1::json) as n (recipient text, home text, "lastDate" date, "lastAt" timestamptz,
  "nextDate" date, "nextAt" timestamptz, "isToday" boolean, "graceMs" bigint)`;

/** Whether something due at a moment is not too late. */
const isInTime = (at: string): string => `${at} >= now() - n."graceMs" * interval '1 ms'`;

const tooLate = 'it could not be sent on its day';

/**
 * Reschedules the digests of all recipients by the current plan: one per recipient and day, across connections. The days of
 * `last` and `next` get their connection and time, other days to come are dropped, and earlier ones are missed: that of
 * `last` catches up on them. A digest that is due is never postponed, and one moved into the past is late from now on. Sent,
 * skipped and failed ones stay. Recipients without a plan have no digest, and the `configured` connections schedule none
 * for them.
 */
export async function replaceDigests(
  db: Queryable,
  configured: readonly string[],
  plans: readonly PlannedDigests[],
): Promise<void> {
  const json = plannedJson(plans);
  const write = (statement: string, ...more: unknown[]) => db.query(statement, [json, ...more]);
  await write(
    `with over as (
       update mails set state = 'skipped', updated_at = now(), note = 'nothing was due'
       where kind = 'digest' and state = 'scheduled' and connection = any($2) and send_at <= now()
         and recipient not in (select recipient from ${planned}))
     delete from mails where kind = 'digest' and state = 'scheduled' and connection = any($2) and send_at > now()
       and recipient not in (select recipient from ${planned})`,
    configured,
  );
  await write(
    `delete from mails d using ${planned} where d.kind = 'digest' and d.state = 'scheduled'
       and d.recipient = n.recipient and d.local_date > n."lastDate" and d.local_date <> n."nextDate"`,
  );
  await write(
    `update mails d set connection = n.home, send_at = n.at, updated_at = now()
     from (select recipient, home, "lastDate" as day, "lastAt" as at from ${planned}
         union all select recipient, home, "nextDate", "nextAt" from ${planned}) p
       join mails o on o.kind = 'digest' and o.recipient = p.recipient and o.local_date = p.day
       cross join lateral (select o.id, p.home, case when o.send_at <= now()
         then least(o.send_at, p.at) else greatest(p.at, date_trunc('milliseconds', now())) end as at) n
     where d.id = n.id and d.state = 'scheduled' and (d.connection, d.send_at) is distinct from (n.home, n.at)`,
  );
  // Its queue is worked by nobody any more: the new home finds out whether it was sent.
  await write(
    `update mails d set connection = n.home from ${planned}
     where d.kind = 'digest' and d.state = 'sending' and d.recipient = n.recipient and d.connection <> all($2)`,
    configured,
  );
  await write(
    `with missed as (
       update mails d set state = 'missed', updated_at = now(), note = '${tooLate}' from ${planned}
       where d.kind = 'digest' and d.state = 'scheduled' and d.recipient = n.recipient
         and (d.local_date < n."lastDate" or d.local_date = n."lastDate" and not (n."isToday" and ${isInTime('d.send_at')}))
       returning d.recipient)
     insert into mails (connection, kind, recipient, local_date, send_at)
     select home, 'digest', recipient, "lastDate", "lastAt" from ${planned}
     where "isToday" and ${isInTime('"lastAt"')} and recipient in (select recipient from missed)
     union all select home, 'digest', recipient, "nextDate", "nextAt" from ${planned}
     on conflict do nothing`,
  );
}

function plannedJson(plans: readonly PlannedDigests[]): string {
  return JSON.stringify(
    plans.map(({ last, next, ...plan }) => ({
      ...plan,
      lastDate: last.localDate,
      lastAt: timestamp(last.sendAt),
      nextDate: next.localDate,
      nextAt: timestamp(next.sendAt),
    })),
  );
}
