import { batchesBySize } from '../core/lead/text-size.ts';
import type { LiveScan } from '../core/merge/live-scan.ts';
import type { Queryable } from './database.ts';

const storedTogether = 1_000;

/** Stores what the status column and the earlier values of baselines are made of, while a plan is carried out. */
export async function storeStaged(db: Queryable, runId: number, scan: LiveScan): Promise<void> {
  const write = async (text: string, lines: Iterable<object>): Promise<void> => {
    for (const some of batchesBySize(lines, () => storedTogether))
      await db.query(text, [runId, JSON.stringify(some)]);
  };
  const leads = function* () {
    for (const leadId of scan.leads()) if (!scan.isPlain(leadId)) yield { leadId, cells: scan.lead(leadId) };
  };
  await write(
    `insert into staged_leads (run_id, lead_id, cells)
     select $1, "leadId", cells from json_to_recordset($2::json) as l ("leadId" text, cells jsonb) on conflict do nothing`,
    leads(),
  );
  const rows = function* () {
    for (const leadId of scan.rows.ids()) yield { leadId, ...scan.row(leadId), duplicate: false };
    for (const row of scan.rows.loose()) yield { ...row, duplicate: row.leadId !== null };
  };
  await write(
    `insert into staged_rows (run_id, ordinal, row_number, lead_id, cells, status, duplicate)
     select $1, ordinal, "row", "leadId", cells, status, duplicate from json_to_recordset($2::json)
       as r (ordinal int, "row" bigint, "leadId" text, cells jsonb, status text, duplicate boolean) on conflict do nothing`,
    rows(),
  );
  await write(
    `insert into absent_pairs (run_id, lead_id, lead, "row")
     select $1, a.* from json_to_recordset($2::json) as a ("leadId" text, lead boolean, "row" boolean) on conflict do nothing`,
    scan.absent(),
  );
}
