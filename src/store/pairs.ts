import { idKey } from '../core/lead/lead-id.ts';
import type { Values } from '../core/lead/value.ts';
import { columnOf, countOf, mapOf, type Queryable } from './database.ts';

const known = `from pairs where connection = $1 and base is not null and lead_deleted_at is null`;

/** How many pairs were ever in step: what the guard measures against. */
export function countKnownPairs(db: Queryable, connection: string): Promise<number> {
  return countOf(db, known, [connection]);
}

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

/** How many leads are known. */
export function countKnownLeads(db: Queryable, connection: string): Promise<number> {
  return countOf(db, 'from pairs where connection = $1 and lead_deleted_at is null', [connection]);
}

/** Whether any pair was ever in step. */
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

/** The baselines of some leads. */
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

/** Those of these leads that are pairs. */
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
