import type pg from 'pg';
import type { Cell, Value } from '../core/lead/value.ts';
import type { CalendarEdits, EditSource } from '../core/merge/requested-edit.ts';
import { columnOf, firstOf, isoMs, oneOf, type Queryable, rowsOf } from './database.ts';
import type { RoundRef, RunRef } from './runs.ts';

/** `superseded`: the same person requested another value, or gave it up. */
export const editStates = ['open', 'applied', 'unchanged', 'conflict', 'superseded', 'failed'] as const;
type EditState = (typeof editStates)[number];

/** An edit that a person makes outside table and service. `from`: what the person saw. Values are canonical. */
export interface NewEdit {
  readonly leadId: string;
  readonly field: string;
  readonly from: Value;
  readonly to: Value;
  readonly source: EditSource;
  /** The address of the person, as the mails have it. */
  readonly requestedBy: string;
}

/** A requested edit. Personal data. */
export interface RequestedEdit extends NewEdit {
  readonly id: number;
  readonly connection: string;
  /** ISO instants. */
  readonly requestedAt: string;
  readonly settledAt: string | null;
  readonly state: EditState;
  /** Why it is not carried out, for people. */
  readonly note: string | null;
  /** What the lead showed instead, where that is the reason. */
  readonly shown: Cell;
  readonly runId: number | null;
}

const columns = `id, connection, lead_id as "leadId", field, base #>> '{}' as "from", row_value #>> '{}' as "to", source,
  requested_by as "requestedBy", ${isoMs('since')} as "requestedAt", ${isoMs('settled_at')} as "settledAt", state,
  message as note, lead_value as shown, last_run as "runId"`;

const edits = `held where kind = 'edit' and`;

/**
 * Stores an edit, in a transaction. An equal one that is open or held is returned unchanged; another one of this person for
 * this field is superseded unless a run is writing it: then the new one builds on that write.
 */
export async function insertEdit(
  db: pg.PoolClient,
  connection: string,
  edit: NewEdit,
): Promise<RequestedEdit> {
  const { leadId, field, from, to, source, requestedBy } = edit;
  // Two requests at the same moment: the second sees the first.
  await db.query(`select pg_advisory_xact_lock(hashtextextended($1, 0))`, [
    `edit/${connection}/${leadId}/${field}`,
  ]);
  const mine = `connection = $1 and lead_id = $2 and field = $3 and requested_by = $4`;
  const place = [connection, leadId, field, requestedBy];
  const same = await firstOf<RequestedEdit>(
    db,
    `select ${columns} from ${edits} ${mine} and row_value is not distinct from to_jsonb($5::text)
       and (state = 'open' or state = 'conflict' and base is not distinct from to_jsonb($6::text)) order by id desc limit 1`,
    [...place, to, from],
  );
  if (same !== null) return same;
  await db.query(
    `update held set state = 'superseded', settled_at = now(), planned = true
     where kind = 'edit' and ${mine} and (state in ('conflict', 'failed') or state = 'open' and last_run is null)`,
    place,
  );
  return oneOf(
    db,
    `insert into held (kind, connection, lead_id, field, requested_by, state, base, row_value, source)
     select 'edit', $1, $2, $3, $4, 'open', case when w.id is null then to_jsonb($5::text) else w.row_value end, to_jsonb($6::text), $7
     from (select 1) one left join lateral (
       select id, row_value from ${edits} ${mine} and state = 'open' order by id desc limit 1) w on true
     returning ${columns}`,
    [...place, from, to, source],
  );
}

export function findEdit(db: Queryable, id: number): Promise<RequestedEdit | null> {
  return firstOf(db, `select ${columns} from ${edits} id = $1`, [id]);
}

/** The last edit of a lead's field that still counts, or null. */
export function lastEditOf(
  db: Queryable,
  connection: string,
  leadId: string,
  field: string,
): Promise<RequestedEdit | null> {
  return firstOf(
    db,
    `select ${columns} from ${edits} connection = $1 and lead_id = $2 and field = $3 and state <> 'superseded'
     order by id desc limit 1`,
    [connection, leadId, field],
  );
}

/** Edits that no run has carried out, the oldest first. */
export function openEdits(db: Queryable, connection: string): Promise<readonly RequestedEdit[]> {
  return rowsOf(db, `select ${columns} from ${edits} connection = $1 and state = 'open' order by id`, [
    connection,
  ]);
}

/** Whether an edit waits for a run or for the end of an interrupted one. */
export async function haveEdits(db: Queryable, connection: string): Promise<boolean> {
  return (await openEdits(db, connection)).length > 0;
}

/** A run without progress for this long (ms) may have lost its job. */
const stalledMs = 60_000;

/**
 * The connections among these with an edit that no run is writing and none attempted within `pauseMs`, or whose run makes no
 * progress; or with reminders that are not planned yet. Without paused connections.
 */
export function connectionsWithEdits(
  db: Queryable,
  connections: readonly string[],
  pauseMs: number,
): Promise<readonly string[]> {
  return columnOf(
    db,
    `select distinct e.connection from held e left join connections c on c.connection = e.connection
     left join runs r on r.id = e.last_run
     where e.kind = 'edit' and e.connection = any($1) and c.paused_at is null and (e.state in ('applied', 'unchanged') and not e.planned
       or e.state = 'open' and case when e.last_run is null
         then coalesce(e.tried_at, '-infinity') < now() - $2 * interval '1 ms' else r.progress_at < now() - $3 * interval '1 ms' end)`,
    [connections, pauseMs, stalledMs],
  );
}

/** Of each person whose calendar has open edits on which nobody has decided. */
export function calendarEdits(db: Queryable, connection: string): Promise<readonly CalendarEdits[]> {
  return rowsOf(
    db,
    `select requested_by as "requestedBy", count(*)::int as edits,
       (select count(*)::int from follow_ups f where f.connection = $1 and f.due_at is not null
         and lower(e.requested_by) = any(f.recipients)) as "followUps"
     from held e where kind = 'edit' and connection = $1 and source = 'calendar' and decided_at is null
       and state in ('open', 'applied', 'conflict') and since > now() - interval '1 hour'
     group by requested_by having bool_or(state = 'open')`,
    [connection],
  );
}

/** Holds the open edits from a person's calendar until somebody has looked at them. */
export async function holdCalendar(
  db: Queryable,
  { id, connection }: RunRef,
  requestedBy: string,
  note: string,
): Promise<void> {
  await db.query(
    `update held set state = 'conflict', code = 'edit.many', message = $4, last_run = $3, settled_at = now(), lead_value = coalesce(base, 'null')
     where kind = 'edit' and connection = $1 and requested_by = $2 and source = 'calendar' and state = 'open' and decided_at is null`,
    [connection, requestedBy, id, note],
  );
}

/** Plans an action for each open edit of the connection: the plan of this run. */
export async function planEdits(db: Queryable, run: RunRef & RoundRef): Promise<void> {
  await db.query(
    `with chosen as materialized (
       select id, lead_id, field, coalesce(base, 'null') as was, coalesce(row_value, 'null') as wanted,
         nextval(pg_get_serial_sequence('actions', 'id')) as action
       from (select * from ${edits} connection = $3 and state = 'open' and last_run is null order by id for update) e),
     planned as (
       insert into actions (id, run_id, round, kind, lead_id, changes, expect, reason) overriding system value
       select action, $1, $2, 'update-lead', lead_id,
         json_build_object(field, json_build_object('from', was, 'to', wanted, 'rule', 'requested')),
         jsonb_build_object(field, was), 'requested' from chosen)
     update held e set last_run = $1, action_id = chosen.action, message = null, code = null from chosen where chosen.id = e.id`,
    [run.id, run.round, run.connection],
  );
}

/** What became of an edit; `shown`: what the lead shows, where that is the reason. */
export interface EditOutcome {
  readonly state: 'applied' | 'unchanged' | 'conflict' | 'failed';
  readonly note?: string;
  readonly shown?: Cell;
}

export async function recordEditOutcome(
  db: Queryable,
  actionId: number,
  { state, note, shown = null }: EditOutcome,
): Promise<void> {
  await db.query(
    `update held set state = $2, code = case when $2 in ('conflict', 'failed') then 'edit.' || $2 end, message = $3,
       lead_value = $4, settled_at = now(), planned = $2 in ('conflict', 'failed') where action_id = $1`,
    [actionId, state, note ?? null, JSON.stringify(shown)],
  );
}

/**
 * At the end of a run: reopens the edits that it did not write, with the reason; those that the service refused for good
 * failed. `fault`: what ended the run.
 */
export async function releaseEdits(
  db: Queryable,
  run: RunRef,
  fault: string | null,
  refusals: readonly string[],
): Promise<void> {
  await db.query(
    `update held e set state = case when is_refused then 'failed' else 'open' end,
       code = case when is_refused then 'edit.failed' end, message = coalesce(a.outcome_message, $2),
       settled_at = case when is_refused then now() end, planned = is_refused,
       tried_at = now(), last_run = case when is_refused then e.last_run end, action_id = case when is_refused then e.action_id end
     from actions a cross join lateral (select a.state = 'deferred' and coalesce(a.outcome_code = any($3), false) as is_refused) r
     where e.last_run = $1 and e.state = 'open' and a.id = e.action_id`,
    [run.id, fault, refusals],
  );
}

/**
 * Stores a person's decision (by `by`) on an edit held with the values of `item`: drop it, or apply it over the lead's value.
 * False, and nothing is stored, when it is not held any more.
 */
export async function decideEdit(
  db: Queryable,
  item: { readonly id: number; readonly lead: Cell; readonly rowValue: Cell },
  use: 'lead' | 'target',
  by: string,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `with decided as (
       update held set state = case $2 when 'lead' then 'superseded' else 'open' end, decided_by = $5, decided_at = now(),
         planned = $2 = 'lead', base = case when $2 = 'lead' then base else nullif(lead_value, 'null') end, last_run = null,
         action_id = null, code = null, settled_at = case $2 when 'lead' then now() end
       where id = $1 and kind = 'edit' and state in ('conflict', 'failed') and coalesce(lead_value, 'null') = $3::jsonb
         and coalesce(row_value, 'null') = $4::jsonb returning *)
     insert into held (kind, connection, lead_id, field, resolution, lead_value, row_value, decided_by, decided_at)
     select 'decision', connection, lead_id, field, case $2 when 'lead' then 'given-up' else 'requested' end, $3, $4, $5, now() from decided`,
    [item.id, use, JSON.stringify(item.lead ?? null), JSON.stringify(item.rowValue ?? null), by],
  );
  return rowCount === 1;
}

/** What a lead is to show by edits whose reminders are not planned yet; `base`: both sides, when they last agreed. */
export interface Unplanned {
  readonly id: number;
  readonly leadId: string;
  readonly base: Readonly<Record<string, Value>> | null;
  readonly field: string;
  readonly to: Value;
}

/** The edits that were carried out and whose reminders are not planned yet: of each field the last. */
export function unplannedEdits(db: Queryable, connection: string): Promise<readonly Unplanned[]> {
  return rowsOf(
    db,
    `select distinct on (e.lead_id, e.field) e.id, e.lead_id as "leadId", p.base, e.field, e.row_value #>> '{}' as "to"
     from held e left join pairs p on p.connection = e.connection and p.lead_id = e.lead_id
     where e.kind = 'edit' and e.connection = $1 and e.state in ('applied', 'unchanged') and not e.planned order by e.lead_id, e.field, e.id desc`,
    [connection],
  );
}

/** Notes that the reminders of a lead are planned by its edits up to the one with this id. */
export async function noteEditsPlanned(
  db: Queryable,
  connection: string,
  leadId: string,
  last: number,
): Promise<void> {
  await db.query(
    `update held set planned = true where kind = 'edit' and connection = $1 and lead_id = $2 and id <= $3 and state in ('applied', 'unchanged')`,
    [connection, leadId, last],
  );
}
