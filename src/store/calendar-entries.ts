import { epochMs, firstOf, type Queryable, rowsOf, timestamp } from './database.ts';

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
export type ShownJson = Readonly<Record<string, unknown>> & { readonly kind: string };

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

/** Stores entries as they are now. */
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

/** What the calendar shows of an entry now. */
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

/** An entry was found under another name. */
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

/** What is known of a calendar as a whole. */
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
