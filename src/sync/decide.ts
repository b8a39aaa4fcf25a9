import type pg from 'pg';
import { actionsOfUndo } from '../review/plan-undo.ts';
import { openReview } from '../review/pick-approved.ts';
import { clearActions } from '../store/actions.ts';
import { enterPlace } from '../store/places.ts';
import { type Run, type RunPatch, updateRun } from '../store/runs.ts';
import { analyzeActions, analyzePairs, isMany } from '../store/statistics.ts';
import { commitScan } from './commit-scan.ts';
import { inLeasedTransaction, type StepContext } from './context.ts';
import { doubtOfImport } from './doubt-of-import.ts';
import { makePlan, readablePolicy } from './make-plan.ts';
import { noteAuthors } from './note-authors.ts';
import { PlanWriter } from './plan-writer.ts';
import { judgeTable } from './table-mark.ts';
import { placeNotes } from './which-place.ts';

/**
 * Makes the plan. A sync then takes over what the scan alone proves, in the same transaction; a plan leaves everything as
 * it was, and so does an undo, which a person has looked at and the guard is not asked about.
 */
export async function decide(context: StepContext, staged: Run): Promise<Run> {
  const { pool } = context;
  const { verdict: mark, run: judged, again } = await judgeTable(context, staged);
  if (again) return judged;
  const next = { phase: judged.mode === 'plan' ? 'finish' : 'push-leads', attempts: 0 } as const;
  if (actionsOfUndo(pool, judged) !== null) return decideUndo(context, judged, next);
  const imported = await doubtOfImport(context, judged, readablePolicy(context, judged));
  let [written, newPairs] = [0, 0];
  const planned = await inLeasedTransaction(context, async (db) => {
    const writer = await beginPlan(db, judged);
    const plan = await makePlan(context, db, judged, writer, { mark, imported });
    written = writer.written;
    const { refusals } = plan;
    if (refusals.length > 0) return updateRun(db, judged.id, { refusals, phase: 'finish', attempts: 0 });
    const notes = await placeNotes(db, plan.placement);
    const others = judged.problems.filter(({ code }) => notes.every((note) => note.code !== code));
    const goesOn = { ...next, problems: [...others, ...notes] };
    if (judged.mode === 'plan') return updateRun(db, judged.id, goesOn);
    const committed = await commitScan(context, db, judged, plan, goesOn);
    newPairs = committed.newPairs;
    return committed.run;
  });
  if (isMany(written)) await analyzeActions(pool);
  if (isMany(newPairs)) await analyzePairs(pool);
  if (judged.mode === 'sync' && planned.refusals.length === 0) await noteAuthors(context, planned);
  return planned;
}

async function decideUndo(context: StepContext, judged: Run, next: RunPatch): Promise<Run> {
  const { pool, connection } = context;
  // What it has to look up is of the place that it is in.
  const run =
    judged.mode === 'sync'
      ? await inLeasedTransaction(context, (db) => enterPlace(db, judged, connection.leads.baseUrl))
      : judged;
  let written = 0;
  const planned = await inLeasedTransaction(context, async (db) => {
    const writer = await beginPlan(db, run);
    for await (const actions of actionsOfUndo(pool, run) ?? []) await writer.add(...actions);
    await writer.end();
    written = writer.written;
    return updateRun(db, run.id, { ...next, records: written });
  });
  if (isMany(written)) await analyzeActions(pool);
  return planned;
}

async function beginPlan(db: pg.PoolClient, run: Run): Promise<PlanWriter> {
  await clearActions(db, run);
  return new PlanWriter(db, run, await openReview(db, run));
}
