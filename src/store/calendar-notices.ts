import type { Queryable } from './database.ts';
import { timestamp } from './timestamp.ts';

/** What a mail about a calendar entry does with it: in the place of an offset, before the sequence: `moved 3`. */
export type NoticeKind = 'moved' | 'cancel';

/** Which notice a reminder is, by its offset; null: none, but a reminder. */
export function noticeKind(offsetText: string): NoticeKind | null {
  const [word] = offsetText.split(' ');
  return word === 'moved' || word === 'cancel' ? word : null;
}

/**
 * Schedules at `sendAt` (epoch ms) a mail to everybody whose calendar entry, as the last mail about a lead told it, lies
 * ahead and is not so any more: one that moves it to the date of now, or takes it back when he is not reminded of the lead
 * any more. None when a reminder does the same within an hour. One for each change; what was called off comes again.
 * `leadId`: of this lead alone.
 */
export async function scheduleNotices(
  db: Queryable,
  connection: string,
  sendAt: number,
  leadId: string | null = null,
): Promise<void> {
  await db.query(
    `insert into reminders (connection, lead_id, due_at, offset_text, recipient, send_at, sequence)
     select $1, e.lead_id, coalesce(n.due_at, e.due_at),
       case when n.due_at is null then 'cancel ' else 'moved ' end || f.sequence, e.recipient, $2::timestamptz, f.sequence
     from (select distinct on (lead_id, recipient) lead_id, recipient, due_at, offset_text from reminders
         where connection = $1 and state = 'sent' and ($3::text is null or lead_id = $3)
         order by lead_id, recipient, sequence desc, updated_at desc) e
       join follow_ups f on f.connection = $1 and f.lead_id = e.lead_id
       cross join lateral (select case when e.recipient = any(f.recipients) then f.due_at end as due_at) n
     where e.offset_text not like 'cancel%' and e.due_at > now() and n.due_at is distinct from e.due_at
       and not exists (select from reminders o where o.connection = $1 and o.lead_id = e.lead_id
         and o.recipient = e.recipient and o.due_at = n.due_at and o.state in ('scheduled', 'sending')
         and o.offset_text not like 'moved%' and o.send_at < $2::timestamptz + interval '1 hour')
     on conflict (connection, lead_id, due_at, offset_text, recipient) do update
       set state = 'scheduled', send_at = excluded.send_at, note = null, attempts = 0, first_tried_at = null,
         round = reminders.round + 1, updated_at = now()
     where reminders.state = 'cancelled'`,
    [connection, timestamp(sendAt), leadId],
  );
}
