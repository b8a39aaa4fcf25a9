import type pg from 'pg';
import type { Problem } from '../errors.ts';
import { markText, readMark } from '../core/lead/table-mark.ts';
import { doubtOf, judgeMark, type MarkVerdict, nonceOf } from '../core/merge/table-mark.ts';
import { acceptMark, confirmMark, intendMark, keeperOf, knownMarks } from '../store/marks.ts';
import { countKnownPairs, forgetAllPairs } from '../store/pairs.ts';
import { nextRound, type Run, updateRun } from '../store/runs.ts';
import type { MarkToWrite } from '../ports/target.ts';
import { inLeasedTransaction, type StepContext } from './context.ts';
import type { Doubts } from './find-older-copy.ts';

/** The mark of a run, and what is to be called after each write that had it. */
interface RunMark extends MarkToWrite {
  readonly confirm: () => Promise<void>;
}

/**
 * The mark for the rows of a run, intended before the first of them is written: should this process die in between, the
 * next one knows it. Undefined where there is no place for one, or nobody wants it.
 */
export async function markOf(context: StepContext, run: Run): Promise<RunMark | undefined> {
  if (run.mark === null || context.connection.target.marker === false) return undefined;
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

/** An older copy in which nothing is put back, or by a person's will, is the table from now on. */
export async function acceptCopy(db: pg.PoolClient, run: Run, verdict: MarkVerdict): Promise<void> {
  const mark = readMark(run.mark);
  if (verdict.kind === 'earlier' && mark !== null) await acceptMark(db, run, nonceOf(mark));
}

/** What the mark says about whether the table is an older copy. */
export function doubtsOf(verdict: MarkVerdict): Doubts {
  const doubt = doubtOf(verdict);
  return doubt === null ? {} : { row: doubt };
}

/**
 * Decides what the mark says that was found in the table, and what is known of the state itself. A mark of others is accepted where nothing is known of the
 * table yet, or a person has allowed it: then what is known is forgotten first, because it is not what the sides agreed
 * on last, and all is scanned again. `again`: the run as it goes on then.
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
    const isNew = (await countKnownPairs(db, run.connection)) === 0;
    if (run.mode === 'sync' && !isNew && run.allow.includes(verdict.kind)) {
      await forgetAllPairs(db, run.connection);
      return { verdict, run: await nextRound(db, run.id), again: true };
    }
    if (!isNew) return { verdict, run, again: false };
    if (mark === null) return { verdict: { kind: 'current' }, run, again: false };
    if (run.mode === 'sync') await acceptMark(db, run, nonceOf(mark));
    // Of a copy of a table of ours at a place that was never seen, the problem of that place says it. An empty table has none.
    const isTold = verdict.kind === 'other-target' || run.targetRows === 0;
    if (isTold) return { verdict: { kind: 'current' }, run, again: false };
    return { verdict, run: await withProblem(db, run, takenOver(verdict)), again: false };
  });
}

function withProblem(db: pg.PoolClient, run: Run, problem: Problem): Promise<Run> {
  return updateRun(db, run.id, { problems: [...run.problems, problem] });
}

function takenOver({ by }: { readonly by: string }): Problem {
  const message = `Another leadsync, or one whose state was lost, has kept this table before (connection ${by}). It is kept from here now: every row that is there already is a first sight. If the other one still runs, it stops at its next sync, and says so`;
  return { code: 'target.taken-over', message };
}
