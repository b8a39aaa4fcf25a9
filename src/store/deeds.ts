import type pg from 'pg';
import QueryStream from 'pg-query-stream';
import type { Cells } from '../lead/value.ts';
import type { Deeds } from '../merge/undo.ts';

/** What a run did to one lead and its row, beside what both show in the scan of the run that is to put it back. */
export interface StagedDeeds extends Deeds {
  readonly lead: Cells | null;
  readonly row: Cells | null;
  readonly rowNumber: number | null;
}

/** Streams what the run `undoOf` did, lead by lead in the order of their ids, with what is staged for run `id`. */
export async function* stagedDeeds(
  db: pg.PoolClient,
  { id, undoOf }: { readonly id: number; readonly undoOf: number },
): AsyncIterable<StagedDeeds> {
  const query = new QueryStream(
    `with done as (
       select lead_id, kind, expect, changes from actions
       where run_id = $2 and state = 'done' and lead_id is not null and kind in ('create-row', 'remove-row', 'mark-row', 'delete-lead')),
     made as (
       select i.lead_id, i.content from intents i join actions a on a.id = i.action_id
       where a.run_id = $2 and i.state in ('created', 'linked')),
     written as (
       select lead_id, jsonb_agg(jsonb_build_object('side', side, 'field', field, 'before', before, 'after', after) order by first) as list
       from (select lead_id, side, field, min(id) as first, (array_agg(before order by id))[1] as before,
               (array_agg(after order by id desc))[1] as after
             from history where run_id = $2 group by 1, 2, 3) fields
       group by lead_id)
     select k.lead_id as "leadId", l.cells as lead, t.cells as row, t.row_number as "rowNumber",
       coalesce(w.list, '[]') as written, m.content as "leadMade",
       (select (select jsonb_object_agg(key, value->'to') from json_each(d.changes)) from done d
        where d.lead_id = k.lead_id and d.kind = 'create-row' limit 1) as "rowMade",
       (select expect from done d where d.lead_id = k.lead_id and d.kind = 'remove-row' limit 1) as "rowRemoved",
       (select expect from done d where d.lead_id = k.lead_id and d.kind = 'delete-lead' limit 1) as "leadDeleted",
       exists (select from done d where d.lead_id = k.lead_id and d.kind = 'mark-row') as "rowMarked"
     from (select lead_id from done union select lead_id from made union select lead_id from written) k
     left join made m using (lead_id)
     left join written w using (lead_id)
     left join staged_leads l on l.run_id = $1 and l.lead_id = k.lead_id
     left join staged_rows t on t.run_id = $1 and t.lead_id = k.lead_id and not t.duplicate
     order by k.lead_id`,
    [id, undoOf],
    { batchSize: 500 },
  );
  yield* db.query(query) as AsyncIterable<StagedDeeds>;
}
