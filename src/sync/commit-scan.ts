import type pg from 'pg';
import { adoptScan, advanceBaselines, makeKeptMoves, noteOutside, notePaused } from '../store/baselines.ts';
import type { LiveScan } from '../core/merge/live-scan.ts';
import { recordPlannedConflicts } from '../store/conflicts.ts';
import {
  abandonIntents,
  countScanWithout,
  forgetScansWithout,
  intentsCreated,
  intentsLinked,
  rowsSeen,
} from '../store/intents.ts';
import { rememberColumns } from '../store/place-notes.ts';
import { storeMatches } from '../store/matches.ts';
import { enterPlace } from '../store/places.ts';
import { saveRefused } from '../store/refused-creates.ts';
import { type Run, type RunPatch, updateRun } from '../store/runs.ts';
import { saveUndone } from '../store/undone.ts';
import { isFiltered, serviceOf, type StepContext } from './context.ts';
import { type Plan, scanWeight } from './make-plan.ts';
import type { SettledCreates } from '../core/merge/settle-creates.ts';
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
  await storeLostCreates(db, run, creates);
  if (moves > 0) await makeKeptMoves(db, run);
  await saveUndone(db, run, undone, isProof);
  await saveRefused(db, run.connection, refused);
  if (matches.lines !== null)
    await storeMatches(db, run.connection, matches.lines, scanWeight(context, run) < 1);
  await recordPlannedConflicts(db, run, scan);
  const { linked, waiting } = tally.finish(creates.actions);
  const counts = {
    records: shown.records - linked - tally.apart - tally.heldWithLead,
    comparedEqual: shown.equal + tally.equal,
    leftAlone: tally.leftAlone,
    waiting,
  };
  return { run: await updateRun(db, run.id, { ...next, ...counts }), newPairs };
}

async function storeLostCreates(db: pg.PoolClient, run: Run, lost: SettledCreates): Promise<void> {
  const isNew = ({ intent }: SettledCreates['found'][number]): boolean => intent.leadId === null;
  const created = lost.found.filter(isNew).map(({ intent: { id }, leadId }) => ({ id, leadId }));
  await intentsCreated(db, created);
  const unpaired = lost.found.filter(({ isPair }) => !isPair);
  const bases = unpaired.map(({ leadId, base }) => ({ leadId, values: base }));
  await advanceBaselines(db, run.connection, bases);
  await rowsSeen(db, lost.seen);
  await intentsLinked(db, lost.linked);
  await abandonIntents(db, lost.abandoned);
  await countScanWithout(db, lost.unseen, lost.weight);
  await forgetScansWithout(db, lost.offered);
}
