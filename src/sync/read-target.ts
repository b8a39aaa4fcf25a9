import { fingerprint, readableFingerprint } from '../lead/fingerprint.ts';
import { type Run, updateRun } from '../store/runs.ts';
import {
  analyzeStaged,
  clearStagedRows,
  flagDuplicateRows,
  type StagedRow,
  stageRows,
} from '../store/staging.ts';
import type { TargetRow } from '../targets/target.ts';
import { holding, type StepContext } from './context.ts';

/** Below it any way of joining them is fast. */
const manyRecords = 5_000;

/** Reads the whole target and stages its rows. A plan does not create a target that is missing. */
export async function readTarget(context: StepContext, run: Run): Promise<Run> {
  const { target, connection } = context;
  await holding(context, (db) => clearStagedRows(db, run.id));
  const purpose = `${run.id} ${run.round}`;
  const snapshot = await target.open({ create: run.mode === 'sync', purpose }, context.stop);
  let count = 0;
  for await (const batch of snapshot.rows) {
    context.stop.throwIfAborted();
    const staged = batch.map(stageable);
    const from = count;
    await holding(context, (db) => stageRows(db, run.id, from, staged));
    count += batch.length;
  }
  if (run.pulled + count >= manyRecords) await analyzeStaged(context.pool);
  const problems = snapshot.missing.map(({ field, message }) => ({
    code: 'target.column-missing',
    message,
    field,
  }));
  return holding(context, async (db) => {
    await flagDuplicateRows(db, run.id);
    return updateRun(db, run.id, {
      phase: 'plan',
      targetRows: count,
      tries: 0,
      problems: [...run.problems.filter((problem) => problem.code !== 'target.column-missing'), ...problems],
    });
  });

  function stageable(row: TargetRow): StagedRow {
    const hash = readableFingerprint(row.cells, connection.fields);
    return { ...row, hash, rowKey: fingerprint(row.cells, connection.fields) };
  }
}
