import type pg from 'pg';
import {
  type ActOfRow,
  RowStandings,
  type RowStanding,
  type ScannedRow,
} from '../core/merge/row-standing.ts';
import { type ConflictFact, inStep } from '../core/merge/row-status.ts';
import type { Run } from './runs.ts';
import { rowsOf } from './database.ts';
import { streamRows } from './stream-rows.ts';

/**
 * Streams, in the target's order, the rows whose status cell may need a change: all except those that show the usual text and have
 * nothing to report, or that the round marked, removed, linked or gave back.
 */
export async function* rowStandings(
  pool: pg.Pool,
  run: Pick<Run, 'id' | 'round' | 'connection' | 'scanIncomplete'>,
): AsyncIterable<RowStanding> {
  const acts = await rowsOf<ActOfRow>(
    pool,
    `select kind, lead_id as "leadId", row_number as row, content_hash as "contentHash", state, coalesce(outcome_code, reason) as code
     from actions where run_id = $1 and round = $2 order by id`,
    [run.id, run.round],
  );
  const standings = new RowStandings(acts, await conflictsOfLeads(pool, run.connection), run.scanIncomplete);
  const rows = streamRows<ScannedRow>(
    pool,
    `select r.*, p.outside_since is not null as "isOutside", to_char(p.lead_deleted_at at time zone 'UTC', 'YYYY-MM-DD') as "deletedOn",
       exists (select from scanned_leads where run_id = $1 and lead_id = r."leadId") as "isListed"
     from (
       select s.lead_id as "leadId", coalesce(s.cells, p.base) as cells, s.status as shown, s.duplicate as "isCopy",
         s.row_number as row, s.ordinal
       from staged_rows s left join pairs p on p.connection = $2 and p.lead_id = s.lead_id
       where s.run_id = $1 and s.status is not null
       union all
       -- Rows that are as in the baseline show the usual text.
       select p.lead_id, p.base, $3, false, p.row_number, p.row_number from pairs p
       where p.connection = $2 and p.lead_id in (
           select unnest($4::text[]) union select lead_id from absent_pairs where run_id = $1 and lead and not row)
         and not exists (select from staged_rows where run_id = $1 and lead_id = p.lead_id and not duplicate)
         and not exists (select from absent_pairs where run_id = $1 and lead_id = p.lead_id and row)) r
     left join pairs p on p.connection = $2 and p.lead_id = r."leadId"
     order by r.ordinal`,
    [run.id, run.connection, inStep, standings.told],
  );
  for await (const row of rows) {
    const standing = standings.of(row);
    if (standing !== null) yield standing;
  }
}

/** What is held for leads; null: for all. */
export async function conflictsOfLeads(
  db: pg.Pool,
  connection: string,
  leadIds: readonly string[] | null = null,
): Promise<ReadonlyMap<string, readonly ConflictFact[]>> {
  const rows = await rowsOf<ConflictFact & { leadId: string }>(
    db,
    `select lead_id as "leadId", field, code from held
     where kind = 'conflict' and connection = $1 and lead_id <> '' and ($2::text[] is null or lead_id = any($2)) and content_hash = '' order by id`,
    [connection, leadIds],
  );
  return Map.groupBy(rows, ({ leadId }) => leadId);
}
