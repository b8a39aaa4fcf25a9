import { columnOf, epochMs, type Queryable, rowsOf } from './database.ts';

/** Stores a person's answer; the connections whose calendar of this recipient waits for one. */
export function answerGone(
  db: Queryable,
  connections: readonly string[],
  recipient: string,
  answer: 'put-back' | 'accept',
): Promise<readonly string[]> {
  return columnOf(
    db,
    `update calendars set answer = $3, not_before = null
     where connection = any($1) and recipient = $2 and code = 'caldav.emptied' returning connection`,
    [connections, recipient, answer],
  );
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
