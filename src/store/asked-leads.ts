import type pg from 'pg';
import type { Asked, UnlistedRow } from '../core/merge/unlisted.ts';
import { columnOf, type Queryable } from './database.ts';
import type { RunRef } from './runs.ts';
import { streamRows } from './stream-rows.ts';

/** The rows whose leads the scan of a run does not show, and that the run has not asked for, in the order of their ids. */
export async function* unlistedRows(pool: pg.Pool, run: RunRef): AsyncIterable<UnlistedRow> {
  yield* streamRows<UnlistedRow>(
    pool,
    `select r.lead_id as "leadId", r.cells, p.base, coalesce(p.lead_absences, 0) as "leadAbsences",
       p.lead_deleted_at is not null as "deletionDone",
       coalesce(p.row_absences, 0) > 0 or exists (select from held h
         where h.kind = 'conflict' and h.connection = $2 and h.lead_id = r.lead_id and h.code = 'row.orphan') as "isStray"
     from staged_rows r
     left join lateral (select * from pairs where connection = $2 and lead_id = r.lead_id limit 1) p on true
     where r.run_id = $1 and r.lead_id is not null and not r.duplicate and r.cells is not null
       and (p.lead_id is null or exists (select from absent_pairs where run_id = $1 and lead_id = r.lead_id and lead))
       and not exists (select from staged_leads where run_id = $1 and lead_id = r.lead_id)
       and not exists (select from asked_leads where run_id = $1 and lead_id = r.lead_id)
     order by r.lead_id`,
    [run.id, run.connection],
  );
}

/** The number of leads that a run has asked for so far. */
export async function countAsked(db: Queryable, runId: number): Promise<number> {
  return (await columnOf(db, `select lead_id from asked_leads where run_id = $1`, [runId])).length;
}

/** Stores answers. A lead that was shown is not absent any more: its cells are staged with it. */
export async function storeAnswers(
  db: Queryable,
  runId: number,
  answers: readonly (Asked & { readonly leadId: string })[],
): Promise<void> {
  await db.query(
    `insert into asked_leads (run_id, lead_id, answer, message)
     select $1, "leadId", answer, message from json_to_recordset($2::json) as a ("leadId" text, answer text, message text)
     on conflict (run_id, lead_id) do update set answer = excluded.answer, message = excluded.message`,
    [runId, JSON.stringify(answers)],
  );
  const shown = answers.flatMap(({ leadId, answer }) => (answer === 'shown' ? [leadId] : []));
  await db.query(`delete from absent_pairs where run_id = $1 and lead_id = any($2) and not row`, [
    runId,
    shown,
  ]);
}
