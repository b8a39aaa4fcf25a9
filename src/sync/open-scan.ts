import { counted } from '../core/lead/counted.ts';
import { LiveScan } from '../core/merge/live-scan.ts';
import type { ByteBudget } from '../lib/byte-budget.ts';
import { LeadsyncError, type LeadsyncErrorOptions } from '../lib/errors.ts';
import { loadBaselines, sizeOfBaselines } from '../store/load-baselines.ts';
import { clearScannedLeads, type Run, updateRun } from '../store/runs.ts';
import { takeUpLeads } from '../store/scan-log.ts';
import { inLeasedTransaction, type StepContext } from './context.ts';

/**
 * The scan of a run, with the run as it goes on: taken up where an earlier process left it, or begun again when pairs have
 * moved since. Throws `memory.too-small`: retry later when other connections have memory that it lacks, else never.
 */
export async function openScan(
  context: StepContext,
  run: Run,
): Promise<{ readonly run: Run; readonly scan: LiveScan }> {
  const { memory } = context;
  if (memory.scan !== null) return { run, scan: memory.scan };
  const scan = new LiveScan(await load(context, run));
  const taken = await takeUp(context, run, scan);
  memory.scan = scan;
  return { run: taken, scan };
}

/** Other connections may have read their sides by then (ms). */
const othersReadMs = 5_000;

async function load({ pool, connection, memory }: StepContext, run: Run): Promise<LiveScan['base']> {
  let [isOver, isAlone] = [false, false];
  const reserve = (bytes: number): void => {
    isOver = !memory.take(bytes);
    if (!isOver) return;
    ({ isAlone } = memory);
    throw new RangeError('no memory is left');
  };
  try {
    return await loadBaselines(pool, run.connection, connection.fields, reserve);
  } catch (error) {
    memory[Symbol.dispose]();
    if (!isOver) throw error;
    const size = await sizeOfBaselines(pool, run.connection);
    throw tooSmall(size, memory.budget, isAlone ? {} : { retry: 'later', retryAfterMs: othersReadMs });
  }
}

async function takeUp(context: StepContext, run: Run, scan: LiveScan): Promise<Run> {
  if (run.phase === 'pull' && run.cursor === null) return run;
  if (run.moves === scan.base.moves) {
    await takeUpLeads(context.pool, run.id, scan);
    return run;
  }
  context.log.info({ run: run.id }, 'pairs have moved since the scan was interrupted: it begins again');
  return inLeasedTransaction(context, async (db) => {
    await clearScannedLeads(db, run.id);
    return updateRun(db, run.id, { phase: 'pull', cursor: null, pages: 0, pulled: 0, pulledBytes: 0 });
  });
}

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1024 ** 2)} MB`;

/** `memory.too-small`: what the baselines of a connection take, and what there is for those of all. */
export function tooSmall(
  { pairs, bytes }: { readonly pairs: number; readonly bytes: number },
  { limit, memory }: ByteBudget,
  again: Pick<LeadsyncErrorOptions, 'retry' | 'retryAfterMs'> = {},
): LeadsyncError {
  const leads = counted(pairs, 'lead', 'leads');
  const message = `what is remembered of ${leads} takes ${megabytes(bytes)} of memory; this process may use ${megabytes(limit)} of its ${megabytes(memory)} for all connections together. Nothing was changed`;
  return new LeadsyncError('memory.too-small', message, {
    ...again,
    help: 'Give the container or the machine more memory, or sync fewer leads (leads.query).',
  });
}
