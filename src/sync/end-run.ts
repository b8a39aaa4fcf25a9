import { nothingAudited } from '../core/audit/audit.ts';
import { explain, type LeadsyncError } from '../lib/errors.ts';
import { releaseEdits } from '../store/requested-edits.ts';
import { finishRun, getRun, resumeRun, type Run, type RunStatus, updateRun } from '../store/runs.ts';
import { audit } from './audit.ts';
import { inLeasedTransaction, type LeasedContext } from './context.ts';
import type { Forecast } from './forecast.ts';
import { itemCodes } from './push-leads.ts';
import { buildReport, type SyncReport } from './report.ts';

/** Faults that need a person, like a refusal of the guard; by the refusal that `--allow` overrides, null: none. */
const needsPerson: ReadonlyMap<string, string | null> = new Map([
  ['target.header-missing', null],
  ['target.id-column-missing', null],
  ['target.pause-column-missing', null],
  ['target.incomplete', null],
  ['target.emptied', null],
  ['target.gone', 'target-gone'],
]);

/** Ends a run with its report; `fault`: what ended it. */
export async function endRun(
  context: LeasedContext,
  run: Run,
  fault: LeadsyncError | null,
  forecast?: Forecast,
): Promise<Run> {
  const { pool, clock } = context;
  await resumeRun(pool, run.id);
  const end = async (status: RunStatus, report: SyncReport): Promise<Run> => {
    const ended = await inLeasedTransaction(context, async (db) => {
      if (run.mode === 'edit') await releaseEdits(db, run, fault && explain(fault), itemCodes);
      return finishRun(db, run.id, status, report);
    });
    context.onRun?.(context.log, ended);
    return ended;
  };
  if (fault !== null && needsPerson.has(fault.code)) {
    const refusals = [{ code: needsPerson.get(fault.code) ?? fault.code, message: explain(fault) }];
    const stopped = await inLeasedTransaction(context, (db) => updateRun(db, run.id, { refusals }));
    const report = await buildReport(pool, stopped, null, clock.now());
    return end('stopped', report);
  }
  const current = (await getRun(pool, run.id)) ?? run;
  const failure = fault && { code: fault.code, message: explain(fault) };
  const audited = failure === null ? await audit(context, current) : nothingAudited;
  const built = await buildReport(pool, current, failure, clock.now(), audited, context.connection.fields);
  const report = forecast === undefined ? built : { ...built, forecast };
  return end(report.status, report);
}
