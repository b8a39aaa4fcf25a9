import type { LeadCheckpoint, LiveScan } from '../core/merge/live-scan.ts';
import { oneOf, type Queryable, rowsOf } from './database.ts';

/** Adds a checkpoint to the log of a scan. */
export async function logLeads(
  db: Queryable,
  runId: number,
  { asBase, cursors, leads, asked }: LeadCheckpoint,
): Promise<void> {
  await db.query(
    `insert into scan_log (run_id, as_base, cursors, leads, asked) values ($1, $2, $3, $4, $5)`,
    [runId, asBase.flat(), cursors, leads, JSON.stringify(asked)],
  );
}

/** Takes up the scan of the leads where an earlier process left it. */
export async function takeUpLeads(db: Queryable, runId: number, scan: LiveScan): Promise<void> {
  const lines = await rowsOf<Pick<LeadCheckpoint, 'cursors' | 'asked'> & { id: number; asBase: string[] }>(
    db,
    `select id, as_base as "asBase", cursors, asked from scan_log where run_id = $1 order by id`,
    [runId],
  );
  const checkpoints = lines.map(({ asBase, ...line }) => ({
    ...line,
    asBase: asBase.flatMap((id, nth) =>
      nth % 2 === 0 ? [[Number(id), Number(asBase[nth + 1])] as const] : [],
    ),
  }));
  scan.takeUpLeads(checkpoints);
  for (const { id } of lines)
    scan.takeUpOthers(await oneOf(db, `select leads from scan_log where id = $1`, [id]));
}

/** Drops what the scan of a run has seen of leads. */
export async function clearScanLog(db: Queryable, runId: number): Promise<void> {
  await db.query(`delete from scan_log where run_id = $1`, [runId]);
}
