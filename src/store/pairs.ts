import { idKey } from '../core/lead/lead-id.ts';
import type { Values } from '../core/lead/value.ts';
import {
  columnOf,
  countOf,
  firstOf,
  isoMs,
  mapOf,
  type Queryable,
  rowsOf,
  streamRows,
  valueOf,
} from './database.ts';
import type pg from 'pg';
import { newRowsOf } from './new-rows.ts';

const known = `from pairs where connection = $1 and base is not null and lead_deleted_at is null`;

/** How many pairs have something in each of these fields. */
export function countFilled(
  db: Queryable,
  connection: string,
  fields: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  return mapOf(
    db,
    `select f, (select count(*)::int from pairs
       where connection = $1 and lead_deleted_at is null and coalesce(base->>f, '') <> '') from unnest($2::text[]) f`,
    [connection, fields],
  );
}

/** Some known leads from anywhere among all, or among these. */
export function someKnown(
  db: Queryable,
  connection: string,
  count: number,
  among: readonly string[] | null = null,
): Promise<readonly string[]> {
  return columnOf(
    db,
    `select lead_id from pairs where connection = $1 and lead_deleted_at is null
       and ($3::text[] is null or lead_id = any($3))
     order by lead_absences, hashtext(lead_id), lead_id limit $2`,
    [connection, count, among],
  );
}

export function countKnownLeads(db: Queryable, connection: string): Promise<number> {
  return countOf(db, 'from pairs where connection = $1 and lead_deleted_at is null', [connection]);
}

export async function wasEverInStep(db: Queryable, connection: string): Promise<boolean> {
  return (await db.query(`select ${known} limit 1`, [connection])).rowCount === 1;
}

/** Whether a lead is outside of the filter. */
export async function isOutside(db: Queryable, connection: string, leadId: string): Promise<boolean> {
  const text = `from pairs where connection = $1 and lead_id = $2 and outside_since is not null`;
  return (await countOf(db, text, [connection, leadId])) > 0;
}

/** How many leads with a row are outside of the filter. */
export function countOutside(db: Queryable, connection: string): Promise<number> {
  return countOf(
    db,
    `from pairs where connection = $1 and outside_since is not null and base is not null and lead_deleted_at is null
       and row_absences = 0`,
    [connection],
  );
}

/** The last row numbers of leads, by lead id; without leads that never had a row. */
export function placesOf(
  db: Queryable,
  connection: string,
  leadIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  return valuesOf(db, connection, leadIds, 'row_number');
}

/** A column or expression of the pairs of some leads, by lead id; without nulls. */
async function valuesOf<T>(
  db: Queryable,
  connection: string,
  leadIds: readonly string[],
  column: string,
): Promise<ReadonlyMap<string, T>> {
  if (leadIds.length === 0) return new Map();
  return mapOf(
    db,
    `select lead_id as id, ${column} as value from pairs
     where connection = $1 and lead_id = any($2) and ${column} is not null`,
    [connection, leadIds],
  );
}

export function basesOf(
  db: Queryable,
  connection: string,
  leadIds: readonly string[],
): Promise<ReadonlyMap<string, Values>> {
  return valuesOf(db, connection, leadIds, 'base');
}

/** What the companies of some leads are called: as both sides last agreed on it, else as the lead shows it while it, or a match, waits. */
export function companiesOf(
  db: Queryable,
  connection: string,
  leadIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (leadIds.length === 0) return Promise.resolve(new Map());
  return mapOf(
    db,
    `select w.id, coalesce(p.base->>'companyName', m.name) as value from unnest($2::text[]) as w (id)
     left join pairs p on p.connection = $1 and p.lead_id = w.id
     left join lateral (
       select case o.kind when 'match' then o.lead_value->>'companyName' else o.lead_value #>> '{}' end as name from held o
       where o.connection = $1 and o.lead_id = w.id and (o.kind = 'match' or o.kind = 'conflict' and o.field = 'companyName'
         and jsonb_typeof(o.lead_value) = 'string') order by o.kind, o.current desc, o.id desc limit 1) m on true
     where coalesce(p.base->>'companyName', m.name) is not null`,
    [connection, leadIds],
  );
}

/** The same of what is about leads. */
export function companiesIn(
  db: Queryable,
  connection: string,
  items: readonly { readonly leadId?: string | null }[],
): Promise<ReadonlyMap<string, string>> {
  return companiesOf(db, connection, [...new Set(items.flatMap(({ leadId }) => leadId ?? []))]);
}

export type WithCompany<Item> = Item & { readonly company: string | null };

/** Each with what the company of its lead is called; null: not known. */
export async function withCompanies<Item extends { readonly leadId: string }>(
  db: Queryable,
  connection: string,
  items: readonly Item[],
): Promise<readonly WithCompany<Item>[]> {
  const companies = await companiesIn(db, connection, items);
  return items.map((item) => ({ ...item, company: companies.get(item.leadId) ?? null }));
}

export async function knownOf(
  db: Queryable,
  connection: string,
  leadIds: readonly string[],
): Promise<ReadonlySet<string>> {
  return new Set((await valuesOf(db, connection, leadIds, 'lead_id')).keys());
}

/** Leads that were found to be deleted in the service and whose rows are still there: not missed, nor taken away. */
export function listDeleted(db: Queryable, connection: string): Promise<readonly string[]> {
  return columnOf(
    db,
    `select lead_id as id from pairs p where connection = $1 and lead_deleted_at is not null and row_absences = 0
       and (select a.kind from actions a join runs r on r.id = a.run_id
            where r.connection = $1 and a.lead_id = p.lead_id and a.state = 'done' and a.kind in ('create-row', 'remove-row') and a.done_at >= p.first_seen_at
            order by a.id desc limit 1) is distinct from 'remove-row'
     order by lead_id`,
    [connection],
  );
}

/** The ids that the service spells otherwise, by how they are compared. */
export type Spellings = ReadonlyMap<string, string>;

/** Those of some ids; null: of all. */
export function loadSpellings(
  db: Queryable,
  connection: string,
  ids: readonly string[] | null = null,
): Promise<Spellings> {
  const text = `select lead_key, lead_id from pairs where connection = $1 and lead_key is not null
    and ($2::text[] is null or lead_key = any($2))`;
  return mapOf(db, text, [connection, ids && ids.map(idKey)]);
}

/** An id of a table, in the service's spelling where that is known. */
export function spelled(spellings: Spellings, id: string): string {
  const key = idKey(id);
  return spellings.get(key) ?? key;
}

/** A lead that the last scans did not show, or whose row was not there: it may be deleted, which is not proven yet. */
export interface WaitingDelete {
  readonly leadId: string;
  readonly company: string | null;
  readonly missing: 'lead' | 'row';
  /** ISO instant; null: not known. */
  readonly since: string | null;
}

/** The sides on which a deletion is carried out, so that what is missing there matters. */
export interface DeleteSides {
  readonly leads: boolean;
  readonly rows: boolean;
}

// A pair that was never in step has nothing that could be lost.
const missing = `connection = $1 and base is not null and lead_deleted_at is null
  and (($2 and lead_absences > 0) or ($3 and row_absences > 0))`;

export function countWaitingDeletes(
  db: Queryable,
  connection: string,
  { leads, rows: inRows }: DeleteSides,
): Promise<number> {
  return countOf(db, `from pairs where ${missing}`, [connection, leads, inRows]);
}

export function waitingDeletes(
  db: Queryable,
  connection: string,
  { leads, rows: inRows }: DeleteSides,
  limit: number,
): Promise<readonly WaitingDelete[]> {
  return rowsOf(
    db,
    `select lead_id as "leadId", base->>'companyName' as company,
       case when $2 and lead_absences > 0 then 'lead' else 'row' end as missing,
       to_char(absent_since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since
     from pairs where ${missing} order by lead_id limit $4`,
    [connection, leads, inRows, limit],
  );
}

/** What is remembered of a lead now. Times are ISO instants. */
export interface LeadRecord {
  /** What both sides last agreed on; null when they were never in step. */
  readonly base: Values | null;
  readonly firstSeenAt: string;
  /** When the lead's deletion was found and carried out on the row. */
  readonly deletedAt: string | null;
  /** Since when `leads.query` does not show it. */
  readonly outsideSince: string | null;
  /** Since when its row is paused. */
  readonly pausedSince: string | null;
}

/** Null: never seen, or gone on both sides. */
export function leadRecord(db: Queryable, connection: string, leadId: string): Promise<LeadRecord | null> {
  return firstOf(
    db,
    `select base, ${isoMs('first_seen_at')} as "firstSeenAt", ${isoMs('lead_deleted_at')} as "deletedAt",
       ${isoMs('outside_since')} as "outsideSince", ${isoMs('paused_since')} as "pausedSince"
     from pairs where connection = $1 and lead_id = $2`,
    [connection, leadId],
  );
}

/** The ids that begin so, in capitals or not, of all leads that are known, held or on record; the id itself comes first. */
export function findLeadIds(
  db: Queryable,
  connection: string,
  beginning: string,
  limit: number,
): Promise<readonly string[]> {
  return columnOf(
    db,
    `select id from (
       select lead_id as id from pairs where connection = $1 and starts_with(lower(lead_id), lower($2))
       union select lead_id from held where kind = 'conflict' and connection = $1 and starts_with(lower(lead_id), lower($2))
       union select coalesce(a.written_to, a.lead_id) from actions a join runs r on r.id = a.run_id
         where r.connection = $1 and (a.state = 'done' or a.written is not null)
           and starts_with(lower(coalesce(a.written_to, a.lead_id)), lower($2))
       union select lead_id from ${newRowsOf(`state = 'done' and strpos(lower(body::text), lower($2)) > 0
         and run_id in (select id from runs where connection = $1)`)} l where starts_with(lower(lead_id), lower($2))) known
     where id <> '' order by id <> $2, lower(id) <> lower($2), id limit $3`,
    [connection, beginning, limit],
  );
}

/** All leads that are remembered, with each name of their company: as both sides last agreed on it, and as either shows it while it is held. */
export async function* namedLeads(
  pool: pg.Pool,
  connection: string,
): AsyncIterable<{ readonly leadId: string; readonly company: string }> {
  yield* streamRows(
    pool,
    `select lead_id as "leadId", company from (
       select lead_id, base->>'companyName' as company from pairs where connection = $1
       union
       select lead_id, shown #>> '{}' from held cross join lateral (values (lead_value), (row_value)) v (shown)
       where connection = $1 and kind = 'conflict' and field = 'companyName' and lead_id <> '' and jsonb_typeof(shown) = 'string'
       union
       select lead_id, lead_value->>'companyName' from held where connection = $1 and kind = 'match') n
     where company is not null order by lead_id, company`,
    [connection],
  );
}

export function countLeads(db: Queryable, connection: string): Promise<number> {
  return countOf(db, `from pairs where connection = $1`, [connection]);
}

/** When the first run that is on record began (ISO instant), or null. */
export function firstRunAt(db: Queryable, connection: string): Promise<string | null> {
  const text = `select ${isoMs('min(created_at)')} as at from runs where connection = $1`;
  return valueOf(db, text, [connection]);
}
