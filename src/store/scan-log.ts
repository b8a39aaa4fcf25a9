import type { LeadCheckpoint, LiveScan } from '../core/merge/live-scan.ts';
import { columnOf, type Queryable, rowsOf } from './database.ts';
import { newIdsInPages } from './scan-pages.ts';

/** Adds a checkpoint to the log of a scan. */
export async function logLeads(
  db: Queryable,
  runId: number,
  { asBase, cursors }: LeadCheckpoint,
): Promise<void> {
  await db.query(`insert into scan_log (run_id, as_base, cursors) values ($1, $2, $3)`, [
    runId,
    asBase.flat(),
    cursors,
  ]);
}

/** Takes up the scan of the leads where an earlier process left it. */
export async function takeUpLeads(db: Queryable, runId: number, scan: LiveScan): Promise<void> {
  const lines = await rowsOf<{ asBase: string[]; cursors: string[] }>(
    db,
    `select as_base as "asBase", cursors from scan_log where run_id = $1`,
    [runId],
  );
  const checkpoints = lines.map(({ asBase, cursors }) => ({
    asBase: asBase.flatMap((id, nth) =>
      nth % 2 === 0 ? [[Number(id), Number(asBase[nth + 1])] as const] : [],
    ),
    cursors,
  }));
  const staged = await columnOf<string>(db, `select lead_id from staged_leads where run_id = $1`, [runId]);
  scan.takeUpLeads(checkpoints);
  scan.takeUpWhole(staged);
  for await (const leadIds of newIdsInPages(db, runId)) scan.takeUpWhole(leadIds);
}
