import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../app.ts';
import { asOutage, isDatabaseOutage } from '../postgres/database-outage.ts';
import { shownMoment } from '../core/lead/shown-date.ts';
import { codeOf, faultText, LeadsyncError } from '../lib/errors.ts';
import { describeProgress } from '../ops/run-words.ts';
import { pausedSince } from '../store/connections.ts';
import { openSyncs } from '../store/run-list.ts';
import { getRun, type Run } from '../store/runs.ts';
import { assertOwnPlaces } from '../worker/claim-installation.ts';
import { planSynced } from '../worker/plan-mails.ts';
import { advance, type Request, type RunSummary } from '../worker/run-sync.ts';
import { showProgress } from './terminal.ts';
import { stoppedWith } from './stop.ts';

/** Attempts of a run in the foreground: about half a minute of outage. */
const foregroundAttempts = 7;

/** Longer waits for a service, and longer outages of the database (ms), end the command. */
const longestWaitMs = 60_000;

const outageRetryMs = 1_000;

/** A shorter outage (ms) is not told. */
const untoldMs = 3_000;

/** `undoOf` (of a plan or the application of a plan): the run to undo; `approved`: the reviewed lines. */
export type ForegroundRun = { readonly mode: 'sync' | 'plan' } & Partial<
  Pick<Request, 'allow' | 'approved' | 'undoOf'>
>;

/**
 * Returns the finished run. While another process has the lease, waits for it; a sync that another process began after the call counts as
 * done. Throws `connection.paused`, `run.waiting`, `database.unavailable`, what `assertOwnPlaces` does, and what ends a run early.
 */
export async function runNow(
  app: App,
  connection: string,
  { mode, allow = [], approved, undoOf }: ForegroundRun,
  stop: AbortSignal,
): Promise<Run> {
  // Of several connections the first may have been stopped: none is begun after that.
  stop.throwIfAborted();
  if (mode === 'sync') {
    if ((await pausedSince(app.pool, connection)) !== null) throw paused(connection);
    await assertOwnPlaces(app);
  }
  const request = {
    mode,
    connection,
    allow,
    ...(approved && { approval: randomUUID(), approved }),
    undoOf,
    maxAttempts: foregroundAttempts,
    mostWaitMs: longestWaitMs,
    ...(mode === 'sync' && approved === undefined && { since: Date.now() }),
  };
  // From the database: another process may do the work.
  await using progress = await showProgress(connection, async () => {
    const [open] = await openSyncs(app.pool, [connection], mode);
    return open === undefined ? null : describeProgress(open);
  });
  const inSpan = app.contexts.get(connection)?.inSpan ?? ((_name, _attributes, part) => part());
  const summary = await inSpan(mode, { connection }, () => toItsEnd(app, request, stop)).catch(
    async (error: unknown) => {
      throw stop.aborted ? await stoppedAt(app, connection, mode) : error;
    },
  );
  await progress[Symbol.asyncDispose]();
  if (mode === 'sync') await planMailsUnlessAway(app, connection);
  if (summary.waits !== undefined) throw waits(app, connection, summary.waits);
  if (summary.runId === null) throw paused(connection);
  const run = await getRun(app.pool, summary.runId);
  if (run === null) throw new LeadsyncError('run.lost', `run ${summary.runId} is not in the database`);
  return run;
}

/** How far it came. What it has done is in the database: the next run of the same kind begins there. */
async function stoppedAt(app: App, connection: string, mode: ForegroundRun['mode']): Promise<LeadsyncError> {
  const [open] = await openSyncs(app.pool, [connection], mode).catch(() => []);
  if (open === undefined) return stoppedWith(`no run of ${connection} is left unfinished`);
  return stoppedWith(
    `run ${open.id} of ${connection} keeps what it has done (${describeProgress(open)}); the same command goes on from there`,
  );
}

async function toItsEnd(app: App, request: Request, stop: AbortSignal): Promise<RunSummary> {
  /** When the outage began; null: the last attempt met none. */
  let awaySince: number | null = null;
  let isTold = false;
  for (;;) {
    stop.throwIfAborted();
    const from = performance.now();
    let waitMs = outageRetryMs;
    try {
      const result = await advance(app, request, stop);
      if ('done' in result) return result.done;
      waitMs = result.againAfterMs;
      awaySince = null;
    } catch (error) {
      const now = performance.now();
      // An attempt that went on for long met an outage of its own.
      if (awaySince === null || now - from > longestWaitMs) [awaySince, isTold] = [now, false];
      if (!isDatabaseOutage(error) || now - awaySince > longestWaitMs) throw asOutage(error);
      if (now - awaySince > untoldMs && !isTold) {
        isTold = true;
        const waits = `the database is unavailable: the command waits for it, up to ${longestWaitMs / 1_000} s`;
        app.log.warn({ connection: request.connection, reason: faultText(error) }, waits);
      }
    }
    await sleep(waitMs, undefined, { signal: stop }).catch(() => stop.throwIfAborted());
  }
}

/** The run is over, whatever becomes of this: a worker plans the mails, and adds their jobs, when it can. */
async function planMailsUnlessAway(app: App, connection: string): Promise<void> {
  try {
    await planSynced(app, connection);
  } catch (error) {
    if (codeOf(error)?.startsWith('queue.') !== true && !isDatabaseOutage(error)) throw error;
    app.log.warn({ connection, err: error }, 'the mails have no jobs yet: a worker adds them');
  }
}

function paused(connection: string): LeadsyncError {
  return new LeadsyncError('connection.paused', `${connection} is paused: nothing was started or written`, {
    help: `leadsync resume --connection ${connection} continues it.`,
  });
}

/** All processes know of a wait for the Leads service; of other waits only the one concerned. */
function waits(
  app: App,
  connection: string,
  { until, why }: NonNullable<RunSummary['waits']>,
): LeadsyncError {
  const timeZone = app.contexts.get(connection)?.connection.timeZone ?? 'UTC';
  const reason =
    why === 'throttled'
      ? 'the Leads service asked to wait'
      : why === 'target-throttled'
        ? `${app.contexts.get(connection)?.target.name} asked to wait, or its limit is used up`
        : 'the last attempt failed';
  const ends =
    why === 'throttled'
      ? `leadsync resume --connection ${connection} ends the wait.`
      : 'leadsync sync tries again at once; a waiting worker does so when restarted.';
  const message = `${connection} waits until ${shownMoment(until, timeZone)}, because ${reason}: nothing more is sent before`;
  return new LeadsyncError('run.waiting', message, {
    retry: 'later',
    help: `What was done is kept, and the next sync continues from there. ${ends}`,
  });
}
