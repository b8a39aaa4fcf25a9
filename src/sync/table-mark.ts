import type { Doubts } from '../core/merge/older-copy.ts';
import type pg from 'pg';
import type { Problem } from '../lib/errors.ts';
import { markText, readMark } from '../core/lead/table-mark.ts';
import { judgeMark, type MarkVerdict, nonceOf } from '../core/merge/judge-mark.ts';
import { keeperOf } from '../store/keeper.ts';
import { acceptMark, confirmMark, intendMark, knownMarks } from '../store/place-notes.ts';
import { forgetAllPairs } from '../store/baselines.ts';
import { wasEverInStep } from '../store/pairs.ts';
import { nextRound, type Run, updateRun } from '../store/runs.ts';
import type { MarkToWrite } from '../ports/target.ts';
import { inLeasedTransaction, type StepContext } from './context.ts';

/** The mark of a run; `confirm` is called after each write that carried it. */
interface RunMark extends MarkToWrite {
  readonly confirm: () => Promise<void>;
}

/**
 * The mark of a run, stored before the first write: the next process knows it even if this one dies in between. Undefined
 * where the table has no place for one.
 */
export async function markOf(context: StepContext, run: Run): Promise<RunMark | undefined> {
  if (run.mark === null) return undefined;
  const { nonce, keeper } = await inLeasedTransaction(context, async (db) => ({
    nonce: await intendMark(db, run),
    keeper: await keeperOf(db),
  }));
  const { connection, id: generation } = run;
  let [isThere, isKnown] = [false, false];
  return {
    text: markText({ keeper, connection, generation, nonce }),
    arrived: () => (isThere = true),
    confirm: async () => {
      if (!isThere || isKnown) return;
      await inLeasedTransaction(context, (db) => confirmMark(db, connection, nonce));
      isKnown = true;
    },
  };
}

/** Accepts an older copy that puts nothing back, or that a person allowed, as the table from now on. */
export async function acceptCopy(db: pg.PoolClient, run: Run, verdict: MarkVerdict): Promise<void> {
  const mark = readMark(run.mark);
  if (verdict.kind === 'earlier' && mark !== null) await acceptMark(db, run, nonceOf(mark));
}

/** The evidence of an older copy in the mark of the table. */
export function doubtsOf(verdict: MarkVerdict): Doubts {
  if (verdict.kind !== 'earlier') return {};
  const { runId: run } = verdict;
  return { row: { reason: `it has the mark of run ${run}`, run } };
}

/**
 * Judges the mark found in the table. A foreign mark is accepted where no pair is known yet. Where a person allowed it, the
 * baselines are forgotten first, because the sides agreed on other values since, and everything is scanned again (`again`).
 */
export async function judgeTable(
  context: StepContext,
  run: Run,
): Promise<{ readonly verdict: MarkVerdict; readonly run: Run; readonly again: boolean }> {
  const mark = readMark(run.mark);
  return inLeasedTransaction(context, async (db) => {
    const known = await knownMarks(db, run.connection, mark && nonceOf(mark));
    const verdict = judgeMark(mark, run.connection, known);
    if (verdict.kind === 'earlier') return { verdict, run, again: false };
    if (verdict.kind === 'current') {
      if (run.mode === 'sync' && mark !== null) await confirmMark(db, run.connection, nonceOf(mark));
      return { verdict, run, again: false };
    }
    const isNew = !(await wasEverInStep(db, run.connection));
    if (run.mode === 'sync' && !isNew && run.allow.includes(verdict.kind)) {
      await forgetAllPairs(db, run.connection);
      return { verdict, run: await nextRound(db, run.id), again: true };
    }
    if (!isNew) return { verdict, run, again: false };
    if (mark === null) return { verdict: { kind: 'current' }, run, again: false };
    if (run.mode === 'sync') await acceptMark(db, run, nonceOf(mark));
    // A copy of one of our tables at a new place has the note of that place; an empty table needs none.
    const isReported = verdict.kind === 'other-target' || run.targetRows === 0;
    if (isReported) return { verdict: { kind: 'current' }, run, again: false };
    const problems = [...run.problems, takenOver(verdict)];
    return { verdict, run: await updateRun(db, run.id, { problems }), again: false };
  });
}

function takenOver({ by }: { readonly by: string }): Problem {
  const message = `Another leadsync, or one whose state was lost, has kept this table before (connection ${by}). It is kept from here now: every row that is there already is a first sight. If the other one still runs, it stops at its next sync, and says so`;
  return { code: 'target.taken-over', message };
}
