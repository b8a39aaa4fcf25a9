import type pg from 'pg';
import { openReview } from '../review/pick-approved.ts';
import type { RunPolicy } from '../review/run-policy.ts';
import { clearActions } from '../store/actions.ts';
import { enterPlace } from '../store/places.ts';
import { type Run, type RunPatch, updateRun } from '../store/runs.ts';
import { analyzeActions, analyzePairs, isMany } from '../store/statistics.ts';
import { commitScan } from './commit-scan.ts';
import { inLeasedTransaction, type StepContext } from './context.ts';
import { doubtOfImport, noteAuthors } from './authors.ts';
import { makePlan, readablePolicy } from './make-plan.ts';
import { PlanWriter } from './plan-writer.ts';
import { judgeTable } from './table-mark.ts';
import { placeNotes } from './which-place.ts';

/**
 * Stores the plan of a run. A sync commits in the same transaction what the scan alone proves; a plan (`mode`) changes
 * nothing else. An undo brings its own plan, which a person has reviewed: the guard does not look at it.
 */
export async function decide(context: StepContext, staged: Run): Promise<Run> {
  const { verdict: mark, run, again } = await judgeTable(context, staged);
  if (again) return run;
  const next = { phase: run.mode === 'plan' ? 'finish' : 'push-leads', attempts: 0 } as const;
  if (context.runPolicy.plan !== null) return storePlan(context, run, next, context.runPolicy.plan);
  const imported = await doubtOfImport(context, run, readablePolicy(context, run));
  let [written, newPairs] = [0, 0];
  const planned = await inLeasedTransaction(context, async (db) => {
    const writer = await beginPlan(db, run);
    const plan = await makePlan(context, db, run, writer, { mark, imported });
    written = writer.written;
    const { refusals } = plan;
    if (refusals.length > 0) return updateRun(db, run.id, { refusals, phase: 'finish', attempts: 0 });
    const notes = await placeNotes(db, plan.placement);
    const others = run.problems.filter(({ code }) => notes.every((note) => note.code !== code));
    const goesOn = { ...next, problems: [...others, ...notes] };
    if (run.mode === 'plan') return updateRun(db, run.id, goesOn);
    const committed = await commitScan(context, db, run, plan, goesOn);
    newPairs = committed.newPairs;
    return committed.run;
  });
  if (isMany(written)) await analyzeActions(context.pool);
  if (isMany(newPairs)) await analyzePairs(context.pool);
  if (run.mode === 'sync' && planned.refusals.length === 0) await noteAuthors(context, planned);
  return planned;
}

async function storePlan(
  context: StepContext,
  judged: Run,
  next: RunPatch,
  planOf: NonNullable<RunPolicy['plan']>,
): Promise<Run> {
  const { pool, connection } = context;
  // Entered first: the plan looks up what belongs to the place.
  const run =
    judged.mode === 'sync'
      ? await inLeasedTransaction(context, (db) => enterPlace(db, judged, connection.leads.baseUrl))
      : judged;
  const planned = await inLeasedTransaction(context, async (db) => {
    const writer = await beginPlan(db, run);
    for await (const actions of planOf(pool, run)) await writer.add(...actions);
    await writer.end();
    return updateRun(db, run.id, { ...next, records: writer.written });
  });
  if (isMany(planned.records)) await analyzeActions(pool);
  return planned;
}

async function beginPlan(db: pg.PoolClient, run: Run): Promise<PlanWriter> {
  await clearActions(db, run);
  return new PlanWriter(db, run, await openReview(db, run));
}
