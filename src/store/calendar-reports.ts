import type { CalendarAnswer } from './calendar-entries.ts';
import { epochMs, type Queryable, rowsOf } from './database.ts';

/** A calendar most of whose entries have gone at once. */
export interface EmptiedCalendar {
  readonly kind: 'calendar';
  readonly id: number;
  readonly connection: string;
  readonly recipient: string;
  readonly code: string;
  readonly message: string;
  /** What a person answered; the worker follows it. */
  readonly resolution: CalendarAnswer | null;
}

/** Those of these numbers that wait for a person's answer. */
export function emptiedCalendars(db: Queryable, ids: readonly number[]): Promise<readonly EmptiedCalendar[]> {
  return rowsOf(
    db,
    `select kind, id, connection, requested_by as recipient, code, message, resolution from held
     where id = any($1) and kind = 'calendar'`,
    [ids],
  );
}

/** Stores a person's answer. False: nobody is asked any more. */
export async function answerEmptied(db: Queryable, id: number, answer: CalendarAnswer): Promise<boolean> {
  const { rowCount } = await db.query(
    `with answered as (update held set resolution = $2 where id = $1 and kind = 'calendar' returning *)
     update calendars c set not_before = null from answered where c.connection = answered.connection and recipient = requested_by`,
    [id, answer],
  );
  return rowCount === 1;
}

/** An entry that people have to know of. */
export interface ReportedEntry {
  readonly leadId: string;
  /** When the follow-up is due (epoch ms); null: there is none any more. */
  readonly dueAt: number | null;
  readonly ended: 'deleted' | 'completed' | null;
  /** Why its date is not clear; null: it is. */
  readonly why: string | null;
  /** Why the server took no write of it. */
  readonly note: string | null;
}

/** A calendar for people. */
export interface CalendarReport {
  readonly recipient: string;
  /** What went wrong the last time; null: nothing. */
  readonly code: string | null;
  readonly note: string | null;
  /** Epoch ms; null: it was never read. */
  readonly seenAt: number | null;
  readonly entries: number;
  readonly reported: readonly ReportedEntry[];
}

/** The calendars of a connection, with at most `limit` reported entries each. */
export async function reportCalendars(
  db: Queryable,
  connection: string,
  limit: number,
): Promise<readonly CalendarReport[]> {
  const calendars = await rowsOf<Omit<CalendarReport, 'reported'>>(
    db,
    `select recipient, code, note, ${epochMs('seen_at')} as "seenAt", (select count(*)::int from calendar_entries e
       where e.connection = c.connection and e.recipient = c.recipient and is_there and ended is distinct from 'deleted') as entries
     from calendars c where connection = $1 order by recipient`,
    [connection],
  );
  const entries = await rowsOf<ReportedEntry & { recipient: string }>(
    db,
    `select recipient, lead_id as "leadId", ${epochMs('due_at')} as "dueAt", ended, shown->>'why' as why, note
     from (select e.*, f.due_at, row_number() over (partition by e.recipient order by f.due_at desc nulls last, e.lead_id, component) as nth
       from calendar_entries e left join follow_ups f on f.connection = e.connection and f.lead_id = e.lead_id
         and e.recipient = any(f.recipients)
       where e.connection = $1 and (ended is not null and f.due_at is not null or e.shown->>'kind' = 'unclear' or e.note is not null)) e
     where nth <= $2 order by nth`,
    [connection, limit],
  );
  return calendars.map((calendar) => ({
    ...calendar,
    reported: entries.flatMap(({ recipient, ...entry }) => (recipient === calendar.recipient ? entry : [])),
  }));
}
