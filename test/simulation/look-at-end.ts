import type { SyncReport } from '../../src/sync/report.ts';
import { guardsOf, type Habits } from './habits.ts';
import type { SimDatabase } from './sim-database.ts';
import type { End } from './world.ts';

/** `mayStop`: something has happened to the table that a guard is there for. */
export function suspicious(end: End, mayStop: boolean, habit: Habits): string[] {
  if (end.kind === 'threw')
    return [
      `a life threw ${end.error instanceof Error ? (end.error.stack ?? end.error.message) : JSON.stringify(end.error)}`,
    ];
  if (end.kind !== 'finished') return [];
  const text = JSON.stringify(end.run.report);
  // Each record is counted, and once, and each difference explained: else the run says `receipt.unaccounted` or `audit.unexplained`.
  const { status, receipt } = end.run.report as SyncReport;
  const { records, equal, held, putOff, left, unexplained } = receipt;
  if (
    equal + held + putOff + left + unexplained !== records ||
    (status === 'succeeded' && equal + left !== records)
  )
    return [`a receipt does not add up: ${text}`];
  const isGuard = guardsOf(end.run.report as SyncReport).some((code) => !habit.expects(code));
  const isBad =
    (isGuard && !mayStop) || /"(receipt\.unaccounted|audit\.unexplained|internal|run\.abandoned)"/.test(text);
  return isBad ? [`a run reports ${text}`] : [];
}

/** Whether something waits for another scan: a record that was missed once, an action that was put off. */
export async function isCounting({ pool }: SimDatabase, end: End): Promise<boolean> {
  if (end.kind !== 'finished' || (end.run.report as SyncReport).putOff > 0) return true;
  const { rows } = await pool.query(`select from pairs where lead_absences = 1 or row_absences = 1 limit 1`);
  return rows.length > 0;
}

/** With nobody at work everything that was written is there. */
export function unexplained(end: End): string[] {
  if (end.kind !== 'finished') return [];
  const text = JSON.stringify(end.run.report);
  return text.includes('"receipt.unexplained"') ? [`with nobody at work a run reports ${text}`] : [];
}

/** The conflicts that are stored now, as lines of a trace. */
export async function heldNow(database: SimDatabase): Promise<string[]> {
  const { rows } = await database.pool.query<{ text: string }>(
    `select concat_ws(' ', 'held:', code, lead_id, field, row_number, message) as text from held where kind = 'conflict' order by id`,
  );
  return rows.map(({ text }) => text);
}
