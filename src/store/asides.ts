import type { Aside } from '../core/lead/aside.ts';
import { type Queryable, rowsOf } from './database.ts';
import type { RunRef } from './runs.ts';

/** Stages what a table shows of rows in other cells. */
export async function stageAsides(db: Queryable, runId: number, asides: readonly Aside[]): Promise<void> {
  if (asides.length === 0) return;
  await db.query(
    `insert into staged_asides (run_id, lead_id, kind, place)
     select $1, "leadId", kind, place from json_to_recordset($2::json) as a ("leadId" text, kind text, place text)`,
    [runId, JSON.stringify(asides)],
  );
}

/** An id without a row of its own, or a record without an id, that stands in another cell. */
export interface RowInCell extends Aside {
  /** A row of it was in step once. */
  readonly hadRow: boolean;
}

/**
 * What the table shows in other cells and in no row: ids of pairs and of leads of the scan, and, where a text is a table in
 * itself, all ids. Asked when both sides are staged.
 */
export function rowsInCells(db: Queryable, run: RunRef): Promise<readonly RowInCell[]> {
  return rowsOf(
    db,
    `select distinct a.lead_id as "leadId", a.kind, a.place, coalesce(p.base is not null, false) as "hadRow"
     from (
       select coalesce(s.lead_id, a.lead_id) as lead_id, a.kind, a.place from staged_asides a
       left join lead_spellings s on s.connection = $2 and s.lead_key = a.lead_id
       where a.run_id = $1) a
     left join pairs p on p.connection = $2 and p.lead_id = a.lead_id
     where a.lead_id = '' or not exists (select from staged_rows where run_id = $1 and lead_id = a.lead_id)
       and case when p.lead_id is not null
         then exists (select from absent_pairs where run_id = $1 and lead_id = a.lead_id and row and merged is null)
         else a.kind = 'table' or exists (select from staged_leads where run_id = $1 and lead_id = a.lead_id) end
     order by 3, 1`,
    [run.id, run.connection],
  );
}
