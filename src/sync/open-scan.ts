import { counted } from '../core/lead/wording.ts';
import { LiveScan } from '../core/merge/live-scan.ts';
import type { ByteBudget } from '../lib/memory.ts';
import { LeadsyncError, type LeadsyncErrorOptions } from '../lib/errors.ts';
import { loadBaselines, sizeOfBaselines } from '../store/load-baselines.ts';
import { loadSpellings } from '../store/pairs.ts';
import { clearScan, type Run, updateRun } from '../store/runs.ts';
import { takeUpLeads } from '../store/run-sights.ts';
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
  const base = await load(context, run);
  const scan = new LiveScan(base, reserveBeside(context, base.size));
  // Before any row is seen: a row is compared with its baseline only then.
  for (const leadId of (await loadSpellings(context.pool, run.connection)).values()) scan.spell(leadId);
  const taken = await takeUp(context, run, scan);
  memory.scan = scan;
  return { run: taken, scan };
}

/** Other connections may have read their sides by then (ms). */
const othersReadMs = 5_000;

/** Takes memory for what differs from the baselines of so many pairs. */
function reserveBeside({ memory }: StepContext, pairs: number): (bytes: number) => void {
  return (bytes) => {
    if (memory.take(bytes)) return;
    const size = { pairs, bytes: memory.taken + bytes, isRead: true };
    const again = memory.isAlone ? {} : ({ retry: 'later', retryAfterMs: othersReadMs } as const);
    throw tooSmall(size, memory.budget, again);
  };
}

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
  if (run.moves === null) return run;
  if (run.moves === scan.base.moves) {
    await takeUpLeads(context.pool, run.id, scan);
    return run;
  }
  context.log.info({ run: run.id }, 'pairs have moved since the scan was interrupted: it begins again');
  return inLeasedTransaction(context, async (db) => {
    await clearScan(db, run.id);
    return updateRun(db, run.id, {
      phase: 'pull',
      cursor: null,
      moves: null,
      pages: 0,
      pulled: 0,
      pulledBytes: 0,
    });
  });
}

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1024 ** 2)} MB`;

/** `memory.too-small`: what the baselines of a connection take, with what a scan found (`isRead`), and what there is for all. */
export function tooSmall(
  {
    pairs,
    bytes,
    isRead = false,
  }: { readonly pairs: number; readonly bytes: number; readonly isRead?: boolean },
  { limit, memory }: ByteBudget,
  again: Pick<LeadsyncErrorOptions, 'retry' | 'retryAfterMs'> = {},
): LeadsyncError {
  const leads = counted(pairs, 'lead', 'leads');
  const what = `what is remembered of ${leads}${isRead ? ', and what both sides show instead of it,' : ''}`;
  const message = `${what} takes ${megabytes(bytes)} of memory; this process may use ${megabytes(limit)} of its ${megabytes(memory)} for all connections together. Nothing was changed`;
  return new LeadsyncError('memory.too-small', message, {
    ...again,
    help: 'Give the container or the machine more memory, or sync fewer leads (leads.query).',
  });
}
