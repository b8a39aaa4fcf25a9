import { newFields } from '../store/mapped-columns.ts';
import type { Run } from '../store/runs.ts';
import type { StepContext } from './context.ts';
import { pull } from './pull.ts';
import { finishReading, type StagedTable, stageTable } from './read-target.ts';

/**
 * Pages through all leads, and reads the table meanwhile when it can tell whether anybody has changed it since: what
 * people type during the scan counts. A table that was changed, or cannot tell, is left to the next phase.
 */
export async function scan(context: StepContext, run: Run): Promise<Run> {
  const over = new AbortController();
  const stop = AbortSignal.any([context.stop, over.signal]);
  const early = readEarly({ ...context, stop }, run);
  try {
    const pulled = await pull(context, run);
    const read = await early;
    if (read === null || read.version !== (await context.target.version?.())) return pulled;
    return await finishReading(context, pulled, read.table);
  } finally {
    over.abort();
    await early;
  }
}

/** Null when there is nothing to be read early, or it could not be read: the next phase tells why. */
async function readEarly(
  context: StepContext,
  run: Run,
): Promise<{ readonly version: string; readonly table: StagedTable } | null> {
  // A run may be taken up again and again, and would read all of it each time.
  if (run.cursor !== null || run.pulled > 0) return null;
  try {
    const version = await context.target.version?.();
    if (version === undefined || version === null) return null;
    // A sync makes their columns, which is no matter of reading.
    if ((await newFields(context.pool, run.connection, context.connection.fields)).length > 0) return null;
    return { version, table: await stageTable(context, run, false) };
  } catch (error) {
    context.log.debug({ run: run.id, err: error }, 'the table was not read while the leads were');
    return null;
  }
}
