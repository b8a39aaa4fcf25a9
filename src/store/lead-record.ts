import type pg from 'pg';
import type { Values } from '../core/lead/value.ts';
import { columnOf, countOf, firstOf, isoMs, type Queryable, valueOf } from './database.ts';
import { newRowsOf } from './new-rows.ts';
import { streamRows } from './stream-rows.ts';

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

/** How many leads are remembered. */
export function countLeads(db: Queryable, connection: string): Promise<number> {
  return countOf(db, `from pairs where connection = $1`, [connection]);
}

/** When the first run that is on record began (ISO instant), or null. */
export function firstRunAt(db: Queryable, connection: string): Promise<string | null> {
  const text = `select ${isoMs('min(created_at)')} as at from runs where connection = $1`;
  return valueOf(db, text, [connection]);
}
