import type { LiveScan } from '../core/merge/live-scan.ts';
import { newFields } from '../store/place-notes.ts';
import type { Run } from '../store/runs.ts';
import type { StepContext } from './context.ts';
import { openScan } from './open-scan.ts';
import { pull } from './pull.ts';
import { finishReading, type ReadTable, readTable } from './read-target.ts';

/**
 * Pages through all leads, and reads a table that has a version meanwhile. The next phase reads a table that changed since,
 * so that what people type during the scan counts, or that has no version.
 */
export async function scan(context: StepContext, begun: Run): Promise<Run> {
  const { run, scan: live } = await openScan(context, begun);
  const over = new AbortController();
  const stop = AbortSignal.any([context.stop, over.signal]);
  const early = readEarly({ ...context, stop }, run, live);
  try {
    const pulled = await pull(context, run, live);
    const read = await early;
    if (read === null || read.version !== (await context.target.version?.(context.stop))) return pulled;
    return await finishReading(context, pulled, read.table, live);
  } finally {
    over.abort();
    await early;
  }
}

/** Null: the table was not read; the next phase reads it, or reports why it cannot. */
async function readEarly(
  context: StepContext,
  run: Run,
  live: LiveScan,
): Promise<{ readonly version: string; readonly table: ReadTable } | null> {
  // A run that is resumed again and again would read the whole table each time.
  if (run.cursor !== null || run.pulled > 0) return null;
  try {
    const version = await context.target.version?.(context.stop);
    if (version === undefined || version === null) return null;
    // A sync has to create the columns of new fields first.
    if ((await newFields(context.pool, run.connection, context.connection.fields)).length > 0) return null;
    return { version, table: await readTable(context, run, live, false) };
  } catch (error) {
    context.log.debug({ run: run.id, err: error }, 'the table was not read while the leads were');
    return null;
  }
}
