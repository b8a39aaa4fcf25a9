import { columnOf, epochMs, firstOf, type Queryable, rowsOf, timestamp } from './database.ts';
import type { Cells } from '../core/lead/value.ts';
import { history } from './history.ts';

/** Whose entries: those of one calendar. */
export interface CalendarRef {
  readonly connection: string;
  /** In lower case. */
  readonly recipient: string;
}

/** A lead's entry in a calendar: an appointment or a task. */
export interface EntryRef {
  readonly leadId: string;
  readonly component: 'event' | 'task';
}

/** What the calendar showed, as the database keeps it. */
type ShownJson = Readonly<Record<string, unknown>> & { readonly kind: string };

/** What is stored of an entry besides its key. Dates are epoch ms. */
export interface EntryState {
  readonly name: string;
  readonly uid: string;
  readonly etag: string | null;
  readonly due: number;
  readonly writing: number | null;
  readonly isThere: boolean;
  readonly ended: 'deleted' | 'completed' | null;
  readonly editId: number | null;
  readonly shown: ShownJson;
  readonly written: Readonly<Record<string, string>> | null;
  readonly madeOf: string | null;
  readonly note: string | null;
}

/** A follow-up of the recipient, an entry, or both. */
export interface EntryRow extends EntryRef {
  /** Null: there is no follow-up. */
  readonly dueAt: number | null;
  /** As planned; see `follow_ups`. */
  readonly sequence: number;
  /** A hash of the lead's agreed values besides the date. */
  readonly cellsHash: string | null;
  /** The date waits for a person, or for a correction: the two sides differ. */
  readonly isHeld: boolean;
  readonly state: EntryState | null;
  /** Of `state`: what became of the person's edit; null: it is gone, or there was none. */
  readonly edit: { readonly to: string | null; readonly state: string; readonly planned: boolean } | null;
}

/** All follow-ups of a recipient and all entries in the calendar, in the order of the leads. */
export function entriesOf(
  db: Queryable,
  { connection, recipient }: CalendarRef,
  components: readonly string[],
  field: string,
): Promise<readonly EntryRow[]> {
  return rowsOf(
    db,
    `select coalesce(f.lead_id, e.lead_id) as "leadId", coalesce(f.component, e.component) as component,
       ${epochMs('f.due_at')} as "dueAt", coalesce(f.sequence, 0) as sequence, md5((p.base - $4)::text) as "cellsHash",
       c.lead_id is not null as "isHeld", case when e.lead_id is not null then json_build_object('name', name, 'uid', uid,
         'etag', etag, 'due', ${epochMs('e.due')}, 'writing', ${epochMs('e.writing')}, 'isThere', is_there, 'ended', ended,
         'editId', edit_id, 'shown', e.shown, 'written', written, 'madeOf', made_of, 'note', e.note) end as state,
       case when r.id is not null then json_build_object('to', r.row_value #>> '{}', 'state', r.state, 'planned', r.planned) end as edit
     from (select lead_id, due_at, sequence, component from follow_ups cross join unnest($3::text[]) as component
         where connection = $1 and due_at is not null and $2 = any(recipients)) f
       full join (select * from calendar_entries where connection = $1 and recipient = $2) e using (lead_id, component)
       left join pairs p on p.connection = $1 and p.lead_id = coalesce(f.lead_id, e.lead_id)
       left join (select distinct lead_id from held where kind = 'conflict' and connection = $1 and field = $4) c
         on c.lead_id = coalesce(f.lead_id, e.lead_id)
       left join held r on r.id = e.edit_id
     order by 1, 2`,
    [connection, recipient, components, field],
  );
}

export async function saveEntries(
  db: Queryable,
  { connection, recipient }: CalendarRef,
  entries: readonly (EntryRef & EntryState)[],
): Promise<void> {
  if (entries.length === 0) return;
  const rows = entries.map((entry) => ({
    ...entry,
    due: timestamp(entry.due),
    writing: entry.writing === null ? null : timestamp(entry.writing),
  }));
  await db.query(
    `insert into calendar_entries (connection, recipient, lead_id, component, name, uid, etag, due, writing, is_there, ended,
       edit_id, shown, written, made_of, note)
     select $1, $2, "leadId", component, name, uid, etag, due, writing, "isThere", ended, "editId", shown, written, "madeOf", note
     from json_to_recordset($3::json) as n ("leadId" text, component text, name text, uid text, etag text, due timestamptz,
       writing timestamptz, "isThere" boolean, ended text, "editId" bigint, shown jsonb, written jsonb, "madeOf" text, note text)
     on conflict (connection, recipient, lead_id, component) do update set name = excluded.name, uid = excluded.uid,
       etag = excluded.etag, due = excluded.due, writing = excluded.writing, is_there = excluded.is_there, ended = excluded.ended,
       edit_id = excluded.edit_id, shown = excluded.shown, written = excluded.written, made_of = excluded.made_of, note = excluded.note`,
    [connection, recipient, JSON.stringify(rows)],
  );
}

export interface Seen {
  readonly name: string;
  readonly etag: string | null;
  readonly shown: ShownJson;
}

/** Stores what the calendar shows of some entries. What it shows is there. */
export async function saveSeen(
  db: Queryable,
  { connection, recipient }: CalendarRef,
  seen: readonly Seen[],
): Promise<void> {
  await db.query(
    `update calendar_entries e set etag = n.etag, shown = n.shown, is_there = is_there or n.shown->>'kind' <> 'missing'
     from json_to_recordset($3::json) as n (name text, etag text, shown jsonb)
     where connection = $1 and recipient = $2 and e.name = n.name`,
    [connection, recipient, JSON.stringify(seen)],
  );
}

export async function renameEntry(
  db: Queryable,
  { connection, recipient }: CalendarRef,
  from: string,
  to: string,
): Promise<void> {
  await db.query(
    `update calendar_entries set name = $4, etag = null where connection = $1 and recipient = $2 and name = $3`,
    [connection, recipient, from, to],
  );
}

export async function forgetEntries(
  db: Queryable,
  { connection, recipient }: CalendarRef,
  names: readonly string[],
): Promise<void> {
  await db.query(`delete from calendar_entries where connection = $1 and recipient = $2 and name = any($3)`, [
    connection,
    recipient,
    names,
  ]);
}

/** The entries by their names, with what is needed to see whether they changed. */
export function knownNames(
  db: Queryable,
  { connection, recipient }: CalendarRef,
): Promise<
  readonly (Pick<EntryState, 'name' | 'uid' | 'etag'> & EntryRef & { readonly isShown: boolean })[]
> {
  return rowsOf(
    db,
    `select name, uid, etag, lead_id as "leadId", component, shown->>'kind' <> 'missing' as "isShown"
     from calendar_entries where connection = $1 and recipient = $2`,
    [connection, recipient],
  );
}

/** What it means that entries have gone from a calendar all at once: they are written again, or were deleted on purpose. */
export type CalendarAnswer = 'restore' | 'deleted';

export interface CalendarState {
  readonly url: string;
  readonly code: string | null;
  readonly note: string | null;
  /** Ms until it is to be asked again; not above 0: now. */
  readonly waitMs: number;
  readonly answer: CalendarAnswer | null;
}

/** SQL: what the recipient $2 is asked about a calendar of the connection $1. */
const asked = `held where kind = 'calendar' and connection = $1 and requested_by = $2`;

/** Null: it was never read. */
export function calendarState(
  db: Queryable,
  { connection, recipient }: CalendarRef,
): Promise<CalendarState | null> {
  return firstOf(
    db,
    `select url, code, note, (select resolution from ${asked}) as answer,
       coalesce(${epochMs('not_before')} - ${epochMs('now()')}, 0) as "waitMs"
     from calendars where connection = $1 and recipient = $2`,
    [connection, recipient],
  );
}

/** A calendar at another address is another one: its entries are put anew. */
export async function useCalendar(
  db: Queryable,
  { connection, recipient }: CalendarRef,
  url: string,
): Promise<void> {
  await db.query(
    `with other as (delete from calendars where connection = $1 and recipient = $2 and url <> $3 returning 1),
       asked as (delete from ${asked} and exists (select from other))
     delete from calendar_entries where connection = $1 and recipient = $2 and exists (select from other)`,
    [connection, recipient, url],
  );
  await db.query(
    `insert into calendars (connection, recipient, url) values ($1, $2, $3) on conflict do nothing`,
    [connection, recipient, url],
  );
}

/** The calendar was read. An answer has been followed. */
export async function noteRead(db: Queryable, { connection, recipient }: CalendarRef): Promise<void> {
  await db.query(
    `with answered as (delete from ${asked})
     update calendars set seen_at = now() where connection = $1 and recipient = $2`,
    [connection, recipient],
  );
}

/** How the last pass ended; null: well. `waitMs`: until the next attempt. */
export async function noteCalendarFault(
  db: Queryable,
  { connection, recipient }: CalendarRef,
  fault: { readonly code: string; readonly message: string; readonly waitMs: number } | null,
): Promise<void> {
  await db.query(
    `with asked as (
       insert into held (kind, connection, requested_by, code, message) select 'calendar', $1, $2, $3, $4 where $3 = 'caldav.emptied'
       on conflict (connection, requested_by) where kind = 'calendar' do update set message = excluded.message)
     update calendars set code = $3, note = $4, not_before = now() + $5 * interval '1 ms' where connection = $1 and recipient = $2`,
    [connection, recipient, fault?.code ?? null, fault?.message ?? null, fault?.waitMs ?? null],
  );
}

/** A worker that starts may have other settings: every calendar is tried at once. */
export async function retryCalendars(db: Queryable, connections: readonly string[]): Promise<void> {
  await db.query(`update calendars set not_before = null where connection = any($1)`, [connections]);
}

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

/** A follow-up in a recipient's feed. Times are epoch ms. */
export interface FeedItem {
  readonly connection: string;
  readonly leadId: string;
  readonly dueAt: number;
  readonly sequence: number;
  readonly cells: Cells;
  /** The row's number as of the last read; null: unknown. */
  readonly row: number | null;
  /** What the table is known by; null: unknown. */
  readonly place: string | null;
  /** When the follow-up, or a value of the lead, last changed. */
  readonly changedAt: number;
}

/** A recipient's follow-ups in some connections that are due from a moment (epoch ms) on, the first ones. */
export function feedItems(
  db: Queryable,
  connections: readonly string[],
  recipient: string,
  from: number,
  limit: number,
): Promise<readonly FeedItem[]> {
  return rowsOf(
    db,
    `select f.connection, f.lead_id as "leadId", floor(${epochMs('f.due_at')}) as "dueAt", f.sequence, p.base as cells,
       p.row_number as row, (select identity from places where connection = f.connection and is_current limit 1) as place, floor(${epochMs(`greatest(f.changed_at, (select max(at) from ${history} h
         where h.connection = f.connection and h.lead_id = f.lead_id))`)}) as "changedAt"
     from follow_ups f join pairs p on p.connection = f.connection and p.lead_id = f.lead_id
     where f.connection = any($1) and f.due_at >= $3::timestamptz and $2 = any(f.recipients)
       and p.lead_deleted_at is null and p.outside_since is null and p.base is not null
     order by f.due_at, f.connection, f.lead_id limit $4`,
    [connections, recipient, timestamp(from), limit],
  );
}

/** Everybody with a follow-up in some connections, in lower case. */
export function feedRecipients(db: Queryable, connections: readonly string[]): Promise<readonly string[]> {
  return columnOf(
    db,
    `select distinct unnest(recipients) as recipient from follow_ups
     where connection = any($1) and due_at is not null order by 1`,
    [connections],
  );
}
