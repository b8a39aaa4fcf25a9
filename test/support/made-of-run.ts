import type pg from 'pg';
import type { Run } from '../../src/store/runs.ts';
import type { SyncReport } from '../../src/sync/report.ts';

/** What a run makes of both sides: its plan, and all that it tells. */
export async function madeOf(pool: pg.Pool, run: Run) {
  const { rows: actions } = await pool.query<Record<string, unknown>>(
    `select to_jsonb(a) - array['id', 'run_id', 'created_at'] as action from actions a where run_id = $1 order by id`,
    [run.id],
  );
  const { status, pulled, targetRows, held, putOff, problems } = run.report as SyncReport;
  const { records, comparedEqual, leftAlone, waiting, refusals, mark } = run;
  const told = { status, pulled, targetRows, held, putOff, problems, refusals };
  return { actions, told, counted: { records, comparedEqual, leftAlone, waiting, mark } };
}

/** The same without what spares the reading of the table. */
export async function withoutMemory<T>(pool: pg.Pool, run: () => Promise<T>): Promise<T> {
  await pool.query(`update place_notes set read_tag = '~' || read_tag`);
  try {
    return await run();
  } finally {
    await pool.query(`update place_notes set read_tag = substr(read_tag, 2)`);
  }
}
