import { oneOf, type Queryable } from './database.ts';
import type { RoundRef, RunRef } from './runs.ts';

/** The records of a scan, counted before it is committed. */
export interface ScanCounts {
  /** Leads, and rows that belong to none of them; a second row with one id is none. */
  readonly records: number;
  /** Records equal on both sides, and so no `differences`; without duplicate ids. */
  readonly equal: number;
}

/**
 * Counts the records of a scan and those that are equal: pairs that show the baseline on both sides, which are seen and not
 * staged, and equal staged records.
 */
export function countRecords(db: Queryable, run: RunRef & RoundRef): Promise<ScanCounts> {
  return oneOf(
    db,
    `with met as (
       select coalesce(sum(unmoved) filter (where side = 'lead'), 0)::int as leads,
         coalesce(sum(unmoved) filter (where side = 'row'), 0)::int as rows
       from seen_pairs where run_id = $1),
     staged as not materialized (select lead_id, hash, cells from staged_leads where run_id = $1),
     moved_rows as not materialized (
       select lead_id, hash from staged_rows where run_id = $1 and lead_id is not null and not duplicate and cells is not null),
     missed as not materialized (select lead_id, lead, row from absent_pairs where run_id = $1),
     -- Of a pair that shows the baseline on one side at least, both counts have one, or one of them has.
     moved_on_both as (
       select count(*)::int as count
       from (select lead_id from staged union select lead_id from missed where lead) l
       join (select lead_id from moved_rows union select lead_id from missed where row) r using (lead_id)
       where exists (select from pairs where connection = $2 and lead_id = l.lead_id)),
     same as (
       select l.lead_id from staged l join moved_rows r using (lead_id) where l.hash = r.hash
       union all
       select l.lead_id from staged l join pairs p on p.connection = $2 and p.lead_id = l.lead_id
       where p.base @> l.cells and not exists (select from moved_rows where lead_id = l.lead_id)
         and not exists (select from missed where lead_id = l.lead_id and row)),
     copied as (
       select distinct lead_id from staged_rows where run_id = $1 and duplicate)
     select pairs - (select count(*) from missed where lead and row)::int
         + (select count(*) from (select lead_id from staged union select lead_id from moved_rows) ids
            where not exists (select from pairs where connection = $2 and lead_id = ids.lead_id))::int
         + (select count(*) from staged_rows where run_id = $1 and not duplicate and lead_id is null)::int
         + (select coalesce(sum(count), 0) from new_row_counts where run_id = $1 and round = $3)::int as records,
       case when met.leads = 0 or met.rows = 0 then 0 else met.leads + met.rows - pairs + moved_on_both.count end
         - (select count(*) from copied join pairs p on p.connection = $2 and p.lead_id = copied.lead_id
            where not exists (select from staged where lead_id = copied.lead_id)
              and not exists (select from moved_rows where lead_id = copied.lead_id)
              and not exists (select from missed where lead_id = copied.lead_id))::int
         + (select count(*) from same where not exists (select from copied where lead_id = same.lead_id))::int as equal
     from met, moved_on_both, (select count(*)::int as pairs from pairs where connection = $2) known`,
    [run.id, run.connection, run.round],
  );
}
