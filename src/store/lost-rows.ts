import type pg from 'pg';
import type { LostLead, Stray } from '../core/merge/lost-rows.ts';
import { oneOf, type Queryable, rowsOf } from './database.ts';
import { streamRows } from './stream-rows.ts';
import type { RunRef } from './runs.ts';

/** How much there is to look for. */
export interface LostCounts {
  /** Known leads whose row the scan did not show. */
  readonly gone: number;
  /** Rows with an id that show another name than their lead and they last agreed on. */
  readonly renamed: number;
  /** Rows whose id cannot be read. */
  readonly unreadable: number;
}

// A lead that is not in this scan either may be gone, or only be missed.
const goneRows = `from absent_pairs m join pairs p on p.connection = $2 and p.lead_id = m.lead_id
  where m.run_id = $1 and m.row and m.merged is null and p.base is not null and p.lead_deleted_at is null
    and (not m.lead or p.lead_absences - (p.absence_run is not distinct from $1)::int <= 0)`;

const renamedRows = `from staged_rows t join pairs p on p.connection = $2 and p.lead_id = t.lead_id
  left join staged_leads l on l.run_id = $1 and l.lead_id = t.lead_id
  where t.run_id = $1 and not t.duplicate and t.cells ? 'companyName' and p.base->>'companyName' <> ''
    and t.cells->'companyName' is distinct from p.base->'companyName'
    and t.cells->'companyName' is distinct from l.cells->'companyName'`;

export function countLost(db: Queryable, run: RunRef): Promise<LostCounts> {
  return oneOf(
    db,
    `select (select count(*)::int ${goneRows}) as gone, (select count(*)::int ${renamedRows}) as renamed,
       (select count(*)::int from staged_rows where run_id = $1 and unreadable_id is not null) as unreadable`,
    [run.id, run.connection],
  );
}

/** Known leads whose row the scan did not show. */
export async function* goneLeads(pool: pg.Pool, run: RunRef): AsyncIterable<LostLead> {
  yield* streamRows<LostLead>(
    pool,
    `select g.lead_id as "leadId", g.base, coalesce(l.cells, g.base) as lead, g.listed as "isListed", g.place,
       g.absences <= 0 as "isFresh", g.base || (select jsonb_object_agg(h.field, h.row_value) from conflicts h
         where h.connection = $2 and h.lead_id = g.lead_id and h.row_value is not null) as row
     from (select p.lead_id, p.base, not m.lead as listed, p.row_number as place,
             p.row_absences - (p.absence_run is not distinct from $1)::int as absences ${goneRows}) g
     left join staged_leads l on l.run_id = $1 and l.lead_id = g.lead_id order by g.lead_id`,
    [run.id, run.connection],
  );
}

/** The most leads with renamed rows that are looked at: more are a matter of the guard. */
const mostRenamed = 5_000;

/** Known leads whose row shows another name than they last agreed on. */
export async function* renamedLeads(pool: pg.Pool, run: RunRef): AsyncIterable<LostLead> {
  yield* streamRows<LostLead>(
    pool,
    `select p.lead_id as "leadId", p.base, coalesce(l.cells, p.base) as lead, true as "isListed", true as "isFresh",
       null as place, json_build_object('row', t.row_number, 'contentHash', t.content_hash) as shown
     ${renamedRows} order by t.ordinal limit ${mostRenamed}`,
    [run.id, run.connection],
  );
}

/**
 * Leads without a row, for which one was begun by a run that never heard what became of it: it may have come about, and lost
 * its id since.
 */
export function unheardRows(db: Queryable, run: RunRef): Promise<readonly LostLead[]> {
  return rowsOf(
    db,
    `select distinct on (a.lead_id) a.lead_id as "leadId", l.cells as lead, true as "isListed", true as "isFresh", null as place,
       (select coalesce(json_object_agg(c.key, c.value->'to'), '{}') from json_each(a.changes::json) c) as base
     from (select id, run_id, lead_id, changes from actions where state = 'planned' and kind = 'create-row' and attempts > 0
       union all
       select id, run_id, lead_id, changes from new_row_lines where is_begun and state = 'planned' and attempts > 0) a
     join runs r on r.id = a.run_id and r.connection = $2
     join staged_leads l on l.run_id = $1 and l.lead_id = a.lead_id
     left join pairs p on p.connection = $2 and p.lead_id = a.lead_id
     where p.base is null and not exists (select from staged_rows where run_id = $1 and lead_id = a.lead_id)
     order by a.lead_id, a.id desc`,
    [run.id, run.connection],
  );
}

/** A stray as stored. */
export interface StagedStray extends Stray {
  /** Its id belongs to no lead, and was not in the scan before. */
  readonly isNewOrphan: boolean;
}

/**
 * Rows without a known lead, in the target's order, and reappeared rows with the id of a deleted lead, which may have had
 * another id in between. `allOfGone`: all rows with the id of a deleted lead.
 */
export async function* strays(pool: pg.Pool, run: RunRef, allOfGone: boolean): AsyncIterable<StagedStray> {
  yield* streamRows<StagedStray>(
    pool,
    `select r.row_number as row, r.lead_id as "leadId", r.unreadable_id is not null as "isUnreadable",
       coalesce(r.unreadable_id, r.id_closed) is not null as "isClosed", r.cells,
       r.content_hash as "contentHash", r.lead_id is not null and not r.duplicate and p.lead_id is null and not known.orphan as "isNewOrphan"
     from staged_rows r
     left join pairs p on p.connection = $2 and p.lead_id = r.lead_id
     cross join lateral (select exists (
       select from conflicts h where h.connection = $2 and h.lead_id = r.lead_id
         and (h.code = 'row.orphan' or h.code = 'lead.unasked' and p.lead_id is null)) as orphan) known
     where r.run_id = $1 and r.cells is not null and (r.lead_id is null or r.duplicate
       or (p.lead_id is null or p.row_absences > 0 or known.orphan or $3)
         and (p.lead_id is null or exists (select from absent_pairs where run_id = $1 and lead_id = r.lead_id and lead))
         and not exists (select from staged_leads where run_id = $1 and lead_id = r.lead_id))
     order by r.ordinal`,
    [run.id, run.connection, allOfGone],
  );
}

/** That the rows of these leads were missed counts for nothing; absent: of none. */
export async function leaveUndecided(
  db: Queryable,
  runId: number,
  leadIds?: readonly string[],
): Promise<void> {
  await db.query(
    `update absent_pairs m set undecided = true where run_id = $1 and row
       and ($2::text[] is null or lead_id in (select unnest($2::text[])))`,
    [runId, leadIds ?? null],
  );
}
