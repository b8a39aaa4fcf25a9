import type { Value, Values } from '../core/lead/value.ts';
import { epochMs, firstOf, isoMs, mapOf, oneOf, type Queryable, rowsOf, timestamp } from './database.ts';
import { newRowsOf } from './new-rows.ts';
import type pg from 'pg';

/** What was planned last for a lead. Times are epoch ms. */
interface Planned {
  readonly dueAt: number | null;
  readonly recipients: readonly string[];
  readonly sequence: number;
}

/** A lead whose follow-up, or what decides about it, is another one than was planned. */
export interface ChangedFollowUp {
  readonly leadId: string;
  /** To be kept with what is planned now; null when nothing is due. */
  readonly seen: string | null;
  /** The agreed values; null when nothing is due: cleared, deleted, or never agreed on. */
  readonly cells: Values | null;
  readonly planned: Planned | null;
}

export interface NewPlan extends Planned {
  readonly leadId: string;
  /** Whose lead it is; see `whoseLead`. */
  readonly service: string;
  readonly seen: string | null;
}

/** A lead's follow-up as both sides agree on it; `dueAt` is epoch ms. */
interface AgreedFollowUp {
  readonly connection: string;
  readonly leadId: string;
  readonly dueAt: number;
  readonly cells: Values;
}

/**
 * The leads after `after` (in the order of their ids, at most `limit`) whose follow-ups have to be planned anew, because
 * one of the `fields` (the first is the due moment) or the `rules` (a hash of them) is not what was seen last. Of a lead
 * that has no row yet in a place that the connection was switched to, what was planned stands.
 */
export function changedFollowUps(
  db: Queryable,
  connection: string,
  fields: readonly [string, ...string[]],
  rules: string,
  after: string,
  limit: number,
): Promise<readonly ChangedFollowUp[]> {
  const deciding = fields.map((_, index) => `base->>$${index + 5}::text`);
  return rowsOf(
    db,
    `select coalesce(p.lead_id, f.lead_id) as "leadId", p.seen, p.base as cells,
       case when f.lead_id is not null then json_build_object('dueAt', ${epochMs('f.due_at')}, 'recipients', f.recipients,
         'sequence', f.sequence) end as planned
     from (select lead_id, base, md5(jsonb_build_array($2::text, ${deciding.join(', ')})::text) as seen from pairs
         where connection = $1 and lead_id > $3 and lead_deleted_at is null and outside_since is null and base->>$5::text is not null) p
       full join (select * from follow_ups where connection = $1 and lead_id > $3) f on f.lead_id = p.lead_id
     where p.seen is distinct from f.seen and (p.lead_id is not null or not exists (
       select from pairs u join places on places.connection = $1 and is_current
       where u.connection = $1 and u.lead_id = f.lead_id and u.base is null and u.lead_deleted_at is null
         and u.first_seen_at >= switched_at)
       -- Its row is about to be made.
       and f.lead_id not in (
         select l.lead_id from ${newRowsOf(`state = 'planned' and run_id = (
           select max(id) from runs where connection = $1 and mode = 'sync' and phase not in ('pull', 'read', 'plan'))`)} l))
     order by 1 limit $4`,
    [connection, rules, after, limit, ...fields],
  );
}

export function plannedFollowUp(
  db: Queryable,
  connection: string,
  leadId: string,
): Promise<(Planned & { readonly seen: string | null }) | null> {
  return firstOf(
    db,
    `select seen, ${epochMs('due_at')} as "dueAt", recipients, sequence
     from follow_ups where connection = $1 and lead_id = $2`,
    [connection, leadId],
  );
}

/**
 * Notes what is planned now, so that it is not planned again before something changes. `isRead`: planned from what the
 * service showed, which counts until the next sync (see `forgetRead`).
 */
export async function saveFollowUps(
  db: Queryable,
  connection: string,
  plans: readonly NewPlan[],
  isRead = false,
): Promise<void> {
  await db.query(
    `insert into follow_ups (connection, lead_id, service, seen, due_at, recipients, sequence, is_read)
     select $1, "leadId", service, seen, "dueAt", recipients, sequence, $3
     from json_to_recordset($2::json) as n ("leadId" text, service text, seen text, "dueAt" timestamptz, recipients text[], sequence int)
     on conflict (connection, lead_id) do update set service = excluded.service, seen = excluded.seen, due_at = excluded.due_at,
       recipients = excluded.recipients, sequence = excluded.sequence, is_read = excluded.is_read,
       changed_at = case when follow_ups.sequence = excluded.sequence then follow_ups.changed_at else now() end`,
    [
      connection,
      JSON.stringify(
        plans.map((plan) => ({ ...plan, dueAt: plan.dueAt === null ? null : timestamp(plan.dueAt) })),
      ),
      isRead,
    ],
  );
}

/** In the place of what was seen: to be planned again the next time, though nothing that was agreed on has changed. */
export const seenNothing = '';

/** After a sync, what was agreed on counts again for leads that were planned from what the service showed meanwhile. */
export async function forgetRead(db: Queryable, connection: string): Promise<void> {
  await db.query(`update follow_ups set seen = $2, is_read = false where connection = $1 and is_read`, [
    connection,
    seenNothing,
  ]);
}

/** Takes back all that is planned for a connection that has no reminders any more. */
export async function forgetFollowUps(db: Queryable, connection: string): Promise<void> {
  await db.query(
    `update follow_ups set seen = null, due_at = null, recipients = '{}', sequence = sequence + 1, changed_at = now()
     where connection = $1 and seen is not null`,
    [connection],
  );
  await db.query(`update connections set planned_run = null where connection = $1`, [connection]);
}

/** By the day of a digest (the moments are epoch ms): what is due before `today`, before `tomorrow`, and before `end`. */
interface Days {
  readonly today: number;
  readonly tomorrow: number;
  readonly end: number;
}

/** A due moment of a connection that counts as another one, `at`: a day, in the zone of the recipient. Epoch ms. */
export interface DayStart {
  readonly connection: string;
  readonly dueAt: number;
  readonly at: number;
}

/** How many follow-ups are due before today, today, and after it. */
export type DueCounts = Readonly<Record<'overdue' | 'today' | 'week', number>>;

/**
 * What a recipient (address in lower case) has to follow up in some connections (a lead that several know, in the first): of what is overdue (the newest), due today
 * and coming (the first) at most `limit` each, and how many there are of each. Of 1,000 that are overdue, those of today are
 * not crowded out.
 */
export async function followUpsOf(
  db: Queryable,
  connections: readonly string[],
  recipient: string,
  { today, tomorrow, end }: Days,
  dayStarts: readonly DayStart[],
  limit: number,
): Promise<{ readonly items: readonly AgreedFollowUp[]; readonly counts: DueCounts }> {
  const starts = dayStarts.map((start) => ({
    ...start,
    dueAt: timestamp(start.dueAt),
    at: timestamp(start.at),
  }));
  const latest = Math.max(end, ...dayStarts.map(({ dueAt }) => dueAt + 1));
  const rows = await rowsOf<AgreedFollowUp & { part: keyof DueCounts; count: number }>(
    db,
    `with starts as (
         select * from json_to_recordset($7::json) as s (connection text, "dueAt" timestamptz, at timestamptz)),
       -- Once, without the values of the leads: there may be 100,000.
       due as materialized (
         -- A lead that several connections know is shown once, by the first of them.
         select distinct on (coalesce(service, connection), lead_id) connection, lead_id, due_at, at,
           case when at < $3::timestamptz then 'overdue' when at < $4::timestamptz then 'today' else 'week' end as part
         from (select f.connection, f.lead_id, f.service, f.due_at, coalesce(s.at, f.due_at) as at
             from follow_ups f join pairs p on p.connection = f.connection and p.lead_id = f.lead_id
               left join starts s on s.connection = f.connection and s."dueAt" = f.due_at
             where f.connection = any($1) and f.due_at < $8::timestamptz and $2 = any(f.recipients)
               and p.lead_deleted_at is null and p.outside_since is null and p.base is not null) dated
         where at < $5::timestamptz order by coalesce(service, connection), lead_id, array_position($1::text[], connection)),
       counts as (select part, count(*)::int as count from due group by part),
       shown as (
         (select * from due where part = 'overdue' order by at desc, connection, lead_id limit $6)
         union all (select * from due where part = 'today' order by at, connection, lead_id limit $6)
         union all (select * from due where part = 'week' order by at, connection, lead_id limit $6))
     select connection, lead_id as "leadId", ${epochMs('due_at')} as "dueAt", base as cells, part, count
     from shown join counts using (part) join pairs using (connection, lead_id) order by at, connection, lead_id`,
    [
      connections,
      recipient,
      timestamp(today),
      timestamp(tomorrow),
      timestamp(end),
      limit,
      JSON.stringify(starts),
      timestamp(latest),
    ],
  );
  const counts = { overdue: 0, today: 0, week: 0 };
  for (const { part, count } of rows) counts[part] = count;
  return { items: rows.map(({ part: _, count: _count, ...item }) => item), counts };
}

/** The first due moment (epoch ms) before `untilMs` of everybody's follow-ups, by recipient and connection. */
export async function firstDues(
  db: Queryable,
  connections: readonly string[],
  untilMs: number,
): Promise<ReadonlyMap<string, ReadonlyMap<string, number>>> {
  const dues = await mapOf<Readonly<Record<string, number>>>(
    db,
    `select recipient, json_object_agg(connection, due) from (
       select recipient, connection, ${epochMs('min(due_at)')} as due from follow_ups, unnest(recipients) recipient
       where connection = any($1) and due_at < $2::timestamptz group by 1, 2) dues group by 1 order by 1`,
    [connections, timestamp(untilMs)],
  );
  return new Map([...dues].map(([recipient, first]) => [recipient, new Map(Object.entries(first))]));
}

/** A lead's follow-up as far as leadsync knows it, without a request to the service. */
export interface PresentFollowUp {
  /** What both sides last agreed on; null: they never did. */
  readonly base: Values | null;
  /** Canonical instant; null: none. */
  readonly due: Value;
}

/**
 * The follow-up of a lead: as a requested edit left or met it since the last sync began, else as a mail met it, else as both
 * sides last agreed on it. Null: the lead is not known, or gone.
 */
export function presentFollowUp(
  db: Queryable,
  connection: string,
  leadId: string,
  field: string,
): Promise<PresentFollowUp | null> {
  return firstOf(
    db,
    `select p.base, case when e.id is not null then e.value when f.is_read then ${isoMs('f.due_at')} else p.base->>$3 end as due
     from pairs p left join follow_ups f on f.connection = p.connection and f.lead_id = p.lead_id
     left join lateral (
       select id, case when state in ('applied', 'unchanged') then row_value else lead_value end #>> '{}' as value
       from held where kind = 'edit' and connection = p.connection and lead_id = p.lead_id and field = $3
         and (state in ('applied', 'unchanged') or code = 'edit.conflict' or code = 'edit.failed' and jsonb_typeof(lead_value) = 'string')
         and settled_at > coalesce((select max(created_at) from runs where connection = $1 and mode = 'sync'
           and status in ('succeeded', 'partial')), '-infinity')
       order by settled_at desc limit 1) e on true
     where p.connection = $1 and p.lead_id = $2 and p.lead_deleted_at is null`,
    [connection, leadId, field],
  );
}

/** What leads with a follow-up (by `followUpField`) have in a field, null for nothing, as both sides agree: how many, and one of the rows. */
export function valuesOfFollowUps(
  db: Queryable,
  connection: string,
  followUpField: string,
  field: string,
): Promise<readonly { readonly value: Value; readonly count: number; readonly row: number | null }[]> {
  return rowsOf(
    db,
    `select base->>$3 as value, count(*)::int as count, min(row_number) as row from pairs
     where connection = $1 and lead_deleted_at is null and outside_since is null and base->>$2 is not null
     group by 1 order by 3, 1`,
    [connection, followUpField, field],
  );
}

/** Stands for all connections, whose digests are planned together: no connection has this name. */
export const everyConnection = '*';

/**
 * Lets only one transaction at a time plan the reminders of a connection, or the digests of all (`everyConnection`), so that
 * none plans from what another has overtaken. Returns the time of the database (epoch ms), by which all processes go.
 */
export async function beginPlanning(client: pg.PoolClient, connection: string): Promise<number> {
  await client.query(`select pg_advisory_xact_lock(hashtextextended('reminders/' || $1, 0))`, [connection]);
  return (await oneOf<{ now: number }>(client, `select floor(${epochMs('now()')}) as now`)).now;
}

/**
 * The run that the reminders of a connection are planned after; with the `rules` (a hash of them) it decides what is
 * planned. `isPlanned`: they were planned after it by the same rules. No run of requested edits: it moves no baseline. Null while a run is under way, before the first one,
 * and when leads are to be planned again in any case.
 */
export function planningBasis(
  db: pg.Pool,
  connection: string,
  rules: string,
): Promise<{ readonly run: number; readonly isPlanned: boolean } | null> {
  return firstOf(
    db,
    `select r.id as run, coalesce(c.planned_run = r.id and c.planned_rules = $2, false) as "isPlanned"
     from (select id from runs where connection = $1 and mode <> 'edit' order by id desc limit 1) r left join connections c on c.connection = $1
     where not exists (select from runs where connection = $1 and mode <> 'edit' and finished_at is null)
       and not exists (select from follow_ups where connection = $1 and seen = $3)`,
    [connection, rules, seenNothing],
  );
}

/** Notes that all reminders of a connection are planned after a run (see `planningBasis`) by `rules`. */
export async function notePlanned(
  db: pg.Pool,
  connection: string,
  run: number,
  rules: string,
): Promise<void> {
  await db.query(
    `insert into connections (connection, planned_run, planned_rules) values ($1, $2, $3)
     on conflict (connection) do update set planned_run = excluded.planned_run, planned_rules = excluded.planned_rules`,
    [connection, run, rules],
  );
}
