import type pg from 'pg';
import type { Cells, Values } from '../core/lead/value.ts';
import type { LiveScan } from '../core/merge/live-scan.ts';
import { leadAlone } from '../core/merge/put-back.ts';
import { placeOf } from '../core/merge/sight-of.ts';
import type { RunChanges } from '../core/merge/undo.ts';
import { history } from './history.ts';
import { sentBy } from './intents.ts';
import { newRowsOf } from './new-rows.ts';
import { streamRows } from './stream-rows.ts';

/** What a run did to one lead and its row, beside what both show in the scan of the run that is to put it back. */
export interface ShownRunChanges extends RunChanges {
  readonly lead: Cells | null;
  readonly row: Cells | null;
  readonly rowNumber: number | null;
  readonly isPaused: boolean;
}

/**
 * Streams what the run `undoOf` did, lead by lead in the order of their ids, with what a scan shows. What
 * other runs did since is included; what an earlier undo of the same run did is not: this undo continues it.
 */
export async function* shownRunChanges(
  pool: pg.Pool,
  scan: LiveScan,
  { undoOf, connection }: { readonly undoOf: number; readonly connection: string },
): AsyncIterable<ShownRunChanges> {
  const all = streamRows<
    Omit<ShownRunChanges, 'lead' | 'row' | 'rowNumber' | 'isPaused'> & { readonly base: Values | null }
  >(
    pool,
    // A mark that had no column to go to is none.
    `with those as (
       select id from runs where id = $1 or connection = $2 and id > $1 and undo_of is distinct from $1),
     done as (
       select run_id, lead_id, kind, expect, changes from actions
       where state = 'done' and lead_id is not null and (kind in ('create-row', 'remove-row', 'mark-row', 'delete-lead', 'unlink') or kind = 'link' and reason = 'matched')
         and outcome_code is distinct from 'target.no-status-column' and run_id in (select id from those)
       union all
       select run_id, lead_id, 'create-row', '{}', changes from ${newRowsOf(`state = 'done' and run_id in (select id from those)`)} l),
     mine as (
       select lead_id, bool_or(kind = 'mark-row') as row_marked,
         (array_agg(${sentBy('changes')})
           filter (where kind = 'create-row'))[1] as row_made,
         (array_agg(expect) filter (where kind = 'remove-row'))[1] as row_removed,
         (array_agg(expect) filter (where kind = 'link'))[1] as row_matched,
         (array_agg(expect) filter (where kind = 'delete-lead'))[1] as lead_deleted
       from done where run_id = $1 group by 1),
     since as (select lead_id, max(run_id) as run from done where run_id <> $1 group by 1),
     made as (
       select lead_id, ${sentBy('changes')} as content, expect from actions
       where run_id = $1 and intent is not null and lead_id is not null),
     written as (
       select f.lead_id, jsonb_agg(jsonb_build_object('side', f.side, 'field', f.field, 'before', f.before, 'after', f.after,
           'rule', f.rule, 'later', later.run)
         || case when f.base is null then '{}' else jsonb_build_object('base', f.base) end
         || case when a.changes->f.field is null then '{}' else jsonb_build_object('wanted', (a.changes->f.field->'to')::jsonb) end
         order by f.first) as list
       from (select lead_id, side, field, min(id) as first, (array_agg(before order by id))[1] as before,
               (array_agg(after order by id desc))[1] as after, (array_agg(base order by id))[1] as base,
               (array_agg(rule order by id))[1] as rule, max(action_id) as action_id
             from ${history} h where run_id = $1 group by 1, 2, 3) f
       left join lateral (
         select max(h.run_id) as run from ${history} h join runs r on r.id = h.run_id
         where h.connection = $2 and h.lead_id = f.lead_id and h.field = f.field and h.run_id > $1
           and (f.rule <> all($3) or h.side = 'lead') and r.undo_of is distinct from $1) later on true
       left join actions a on a.id = f.action_id and a.kind = 'update-lead'
       group by f.lead_id)
     select k.lead_id as "leadId", p.base,
       coalesce(w.list, '[]') as written, m.content as "leadMade", m.expect as "rowLinked", since.run as later,
       mine.row_made as "rowMade", mine.row_removed as "rowRemoved", mine.lead_deleted as "leadDeleted", mine.row_matched as "rowMatched",
       coalesce(mine.row_marked, false) as "rowMarked"
     from (select lead_id from mine union select lead_id from made union select lead_id from written) k
     left join mine using (lead_id)
     left join since using (lead_id)
     left join made m using (lead_id)
     left join written w using (lead_id)
     left join pairs p on p.connection = $2 and p.lead_id = k.lead_id
     order by k.lead_id`,
    [undoOf, connection, leadAlone],
  );
  for await (const { base, ...changes } of all) {
    const { leadId } = changes;
    const lead = scan.hasLead(leadId) ? (scan.lead(leadId) ?? base) : null;
    const row = scan.hasRow(leadId) ? (scan.row(leadId)?.cells ?? base) : null;
    const isPaused = scan.isPaused(leadId);
    yield { ...changes, lead, row, rowNumber: row && placeOf(scan, leadId), isPaused };
  }
}
