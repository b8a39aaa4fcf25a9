import type pg from 'pg';
import { timestamp } from './timestamp.ts';

/** In the place of an offset: the mail that takes a calendar entry back. */
export const cancellation = 'cancel';

/**
 * Schedules, for each lead that was cleared or deleted (by `followUpField` of what was agreed) before a follow-up that a
 * mail has told of, one mail to the same recipient at `sendAt` (epoch ms), which takes the calendar entry back. One that
 * was called off because the follow-up had been set again is scheduled anew.
 */
export async function scheduleCancellations(
  db: pg.Pool | pg.PoolClient,
  connection: string,
  followUpField: string,
  sendAt: number,
): Promise<void> {
  await db.query(
    `insert into reminders (connection, lead_id, due_at, offset_text, recipient, send_at, sequence)
     select distinct on (m.lead_id, m.recipient) $1, m.lead_id, m.due_at, $2, m.recipient, $3::timestamptz, f.sequence
     from reminders m join follow_ups f on f.connection = m.connection and f.lead_id = m.lead_id
     where m.connection = $1 and m.state = 'sent' and m.offset_text <> $2 and m.due_at > now() and f.due_at is null
       and not exists (select from pairs p where p.connection = $1 and p.lead_id = m.lead_id
         and p.lead_deleted_at is null and p.base->>$4::text is not null)
     order by m.lead_id, m.recipient, m.due_at desc
     on conflict (connection, lead_id, due_at, offset_text, recipient) do update
       set state = 'scheduled', sequence = excluded.sequence, send_at = excluded.send_at, note = null,
         round = reminders.round + 1, updated_at = now()
     where reminders.state = 'cancelled'`,
    [connection, cancellation, timestamp(sendAt), followUpField],
  );
}
