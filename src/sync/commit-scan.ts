import type pg from 'pg';
import { adoptScan, makeKeptMoves, moveBaselines, noteOutside, notePaused } from '../store/baselines.ts';
import type { LiveScan } from '../core/merge/live-scan.ts';
import { droppedDecisions, noteDropped, recordPlannedConflicts } from '../store/conflicts.ts';
import { changeIntents } from '../store/intents.ts';
import { rememberColumns } from '../store/place-notes.ts';
import { saveUndone, storeMatches } from '../store/held.ts';
import { enterPlace } from '../store/places.ts';
import { saveRefused } from '../store/refused-creates.ts';
import { type Run, type RunPatch, updateRun } from '../store/runs.ts';
import { isFiltered, serviceOf, type StepContext } from './context.ts';
import { choiceWords } from '../review/decide-held.ts';
import { deleteQuestions } from '../core/merge/held-conflicts.ts';
import type { Problem } from '../lib/errors.ts';
import { type Plan, scanWeight } from './make-plan.ts';
import { acceptCopy } from './table-mark.ts';

/**
 * Commits what a scan proves without any action, in the transaction that stores its plan. `next`: the run's next phase.
 * `newPairs`: the stored pairs, most of which are new.
 */
export async function commitScan(
  context: StepContext,
  db: pg.PoolClient,
  judged: Run,
  scan: LiveScan,
  { mark, moved, found, creates, isProof, moves, undone, refused, matches, tally, newRows }: Plan,
  next: RunPatch,
): Promise<{ readonly run: Run; readonly newPairs: number }> {
  const { fields } = context.connection;
  await acceptCopy(db, judged, mark);
  const run = await enterPlace(db, judged, serviceOf(context.connection));
  await rememberColumns(db, run.connection, fields, moved);
  const { leads: metLeads, rows: metRows } = scan.unmoved();
  const shown = tally.records.counts({ pairs: scan.base.size, metLeads, metRows, newRows });
  const rowless = creates.rowless.flatMap(({ leadId }) => (found.leadIds.has(leadId) ? [leadId] : []));
  const newPairs = await adoptScan(db, run, scan, isProof.rows, new Set([...creates.leadIds, ...rowless]));
  await noteOutside(db, run, scan, {
    isFiltered: isFiltered(context),
    isComplete: !run.scanIncomplete,
  });
  await notePaused(db, run, scan);
  const made = creates.found.filter(({ isPair }) => !isPair);
  await moveBaselines(
    db,
    run.connection,
    made.map(({ leadId, base }) => ({ to: 'agreed', leadId, values: base })),
  );
  await changeIntents(db, creates.changes);
  if (moves > 0) await makeKeptMoves(db, run.connection);
  await saveUndone(db, run, undone, isProof);
  await saveRefused(db, run.connection, refused);
  if (matches.lines !== null)
    await storeMatches(db, run.connection, matches.lines, scanWeight(context, run) < 1);
  const dropped = await dropDecisions(db, run, scan);
  await recordPlannedConflicts(db, run, scan);
  const { linked, waiting } = tally.finish(creates.actions);
  const counts = {
    records: shown.records - linked - tally.apart - tally.heldWithLead,
    comparedEqual: shown.equal + tally.equal,
    leftAlone: tally.leftAlone,
    waiting,
  };
  const problems = [...(next.problems ?? []), ...dropped];
  return { run: await updateRun(db, run.id, { ...next, ...counts, problems }), newPairs };
}

/** Says which decisions on deletes do not fit any more. */
async function dropDecisions(db: pg.PoolClient, run: Run, scan: LiveScan): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  for (const { leadId, code, choice, by } of await droppedDecisions(db, run)) {
    const [gone, left] = code === deleteQuestions.row ? ['row', 'lead'] : ['lead', 'row'];
    const isBack = gone === 'row' ? scan.hasRow(leadId) : scan.hasLead(leadId);
    const why = scan.isPaused(leadId)
      ? 'the row is paused'
      : isBack
        ? `the ${gone} is there again`
        : `the ${left} or a setting has changed since, or there is a doubt now`;
    await noteDropped(db, run, leadId, why);
    const message = `${by} decided that ${choiceWords[choice]}: that was not carried out, and does not count any more, because ${why}`;
    problems.push({ code: 'delete.dropped', message, leadId });
  }
  return problems;
}
