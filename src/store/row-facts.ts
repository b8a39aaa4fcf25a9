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
    `with lines as materialized (
       select l.* from run_sights s cross join lateral json_to_recordset(s.statuses) as l ("leadId" text, cells jsonb, shown text,
         "isCopy" boolean, "row" bigint, ordinal bigint, "isListed" boolean) where s.run_id = $1)
     select r."leadId", coalesce(r.cells, p.base) as cells, r.shown, r."isCopy", r."row", r."isListed",
       p.outside_since is not null as "isOutside", to_char(p.lead_deleted_at at time zone 'UTC', 'YYYY-MM-DD') as "deletedOn"
     from (
       select * from lines where shown is not null
       union all
       -- Rows that are as in the baseline show the usual text.
       select lead_id, null, $3, false, row_number, row_number, true from pairs
       where connection = $2 and lead_id = any($4)
         and lead_id not in (select "leadId" from lines where "leadId" is not null and not "isCopy")
         and lead_id not in (
           select l."leadId" from run_sights s cross join lateral json_to_recordset(s.leads) as l ("leadId" text, "isRowMissed" boolean)
           where s.run_id = $1 and l."isRowMissed")) r
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
