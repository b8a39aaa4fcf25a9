import { hash } from 'node:crypto';
import type { Clock } from '../ports/clock.ts';
import { LeadsyncError } from '../errors.ts';
import { attemptOverAfter } from '../core/merge/match-lost-creates.ts';
import { unsettledAttempts } from '../store/intents.ts';
import { isDatabaseOutage } from '../database-outage.ts';
import { pausedSince } from '../store/pauses.ts';
import { runPolicy } from '../review/run-policy.ts';
import { learnedPageSize } from '../store/page-limits.ts';
import { acquireLease } from '../store/leases.ts';
import { leaseName, signalsOf } from './leading.ts';
import {
  countRequests,
  getRun,
  insertRun,
  lastRun,
  nextRound,
  openRun,
  pauseRun,
  type Phase,
  type Run,
  type RunMode,
  resumeRun,
  runOfBatch,
  updateRun,
} from '../store/runs.ts';
import {
  inLeasedTransaction,
  type LeasedContext,
  scopeOf,
  settingsHashes,
  type StepContext,
  type SyncContext,
} from './context.ts';
import { decide } from './decide.ts';
import { endRun } from './end-run.ts';
import { forecastSync } from './forecast.ts';
import { pushLeads } from './push-leads.ts';
import { pushRows } from './push-rows.ts';
import { readTarget } from './read-target.ts';
import { whichPlace } from './which-place.ts';
import { verifyWrites } from './verify.ts';
import { scan } from './scan.ts';

/**
 * What is asked for. `allow` names guard refusals that a person has overridden; `patience` the tries before giving up.
 * `approval`: only these reviewed lines; `undoOf`: the run that is to be put back. `since` (epoch ms): when a sync was asked
 * for; one that began later has done it.
 */
export interface RunRequest {
  readonly mode: RunMode;
  readonly since?: number;
  readonly approval?: string | undefined;
  readonly undoOf?: number | undefined;
  readonly allow: readonly string[];
  readonly maxAttempts: number;
}

/** `again`: the run keeps its checkpoint and continues after this time (ms); no process waits meanwhile. */
export type RunResult =
  | { readonly kind: 'finished'; readonly run: Run }
  | { readonly kind: 'again'; readonly afterMs: number; readonly why: AgainReason };

/** `throttled`: by the Leads service, for all its connections; `target-throttled`: by the target. Neither counts as a try. */
export type AgainReason = 'throttled' | 'target-throttled' | 'fault' | 'busy' | 'settling' | 'stopping';

/** An unfinished run is taken up again within this time (ms); an older one is given up, its scan is out of date. */
export const resumeWithin = 3_600_000;

/** A run scans at most so often to find out what became of its creates. */
const maxRounds = 4;

/** Every phase of a run, in order. Each begins from what is stored, so that a killed run goes on where it was. */
const steps: Readonly<Record<Exclude<Phase, 'finish'>, (context: StepContext, run: Run) => Promise<Run>>> = {
  pull: scan,
  read: readTarget,
  plan: decide,
  'push-leads': pushLeads,
  'push-rows': pushRows,
  receipt: verifyWrites,
};

/**
 * Takes the run of a connection as far as it can go now: starts one or takes up the one that was interrupted, step by
 * step until it is finished, has to wait, or is stopped. Faults end up in the run's report, they are not thrown.
 */
export async function advanceRun(
  context: SyncContext,
  request: RunRequest,
  stop: AbortSignal,
): Promise<RunResult> {
  const name = leaseName(context.connection.name, request.mode);
  await using lease = await acquireLease(context.pool, name, context.leaseMs);
  if (lease === null) return busy;
  const leased = { ...context, lease, ...signalsOf(lease, stop) };
  try {
    // Awaited here: the lease is to be held until the run is settled.
    return await advance(leased, request, stop);
  } catch (error) {
    if (lease.lost.aborted) return busy;
    throw error;
  }
}

/** Another process works on the connection, or has taken the lease meanwhile. */
const busy: RunResult = { kind: 'again', afterMs: 1_000, why: 'busy' };

async function advance(leased: LeasedContext, request: RunRequest, stop: AbortSignal): Promise<RunResult> {
  const { pool, log } = leased;
  // Under the lease: else a run that ends between the look and the lease would be done again.
  const done = await doneBefore(leased, request);
  if (done !== null) return { kind: 'finished', run: done };
  let run = await startOrResume(leased, request);
  const step: StepContext = { ...leased, runPolicy: runPolicy(run) };
  await resumeRun(pool, run.id);
  const spent = () => ({ leads: step.leads.requests, target: step.target.requests });
  let counted = spent();
  const begun = { ...counted, pacedMs: step.leads.pacedMs, at: step.clock.now() };
  const count = async (): Promise<void> => {
    const [before, now] = [counted, spent()];
    counted = now;
    const [leads, target] = [now.leads - before.leads, now.target - before.target];
    await countRequests(pool, run.id, { leads, target });
  };
  try {
    run = await whichPlace(step, run);
    while (run.phase !== 'finish') {
      step.stop.throwIfAborted();
      if (run.mode === 'sync' && (await pausedSince(pool, step.connection.name)) !== null) {
        await pauseRun(pool, run.id);
        return { kind: 'again', afterMs: 0, why: 'stopping' };
      }
      log.debug({ run: run.id, phase: run.phase, round: run.round }, 'step');
      run = await shown(step, run, steps[run.phase]);
      await count();
    }
    const settleIn = await settleDelay(step, run);
    if (settleIn !== null) {
      if (settleIn > 0) {
        await pauseRun(pool, run.id);
        return { kind: 'again', afterMs: settleIn, why: 'settling' };
      }
      await inLeasedTransaction(step, (db) => nextRound(db, run.id));
      return { kind: 'again', afterMs: 0, why: 'settling' };
    }
    const worked = step.clock.now() - begun.at - (step.leads.pacedMs - begun.pacedMs);
    const work = { ms: Math.max(0, worked), requests: counted.leads - begun.leads };
    const forecast = run.mode === 'plan' ? await forecastSync(step, run, work) : undefined;
    return { kind: 'finished', run: await endRun(step, run, null, forecast) };
  } catch (error) {
    await count();
    return interrupted(step, request, run, error, stop);
  }
}

/** A phase as its part of the trace. */
function shown(
  step: StepContext,
  run: Run,
  phase: (step: StepContext, run: Run) => Promise<Run>,
): Promise<Run> {
  const { inSpan } = step;
  const attributes = { connection: step.connection.name, run: run.id, phase: run.phase, round: run.round };
  return inSpan === undefined ? phase(step, run) : inSpan(run.phase, attributes, () => phase(step, run));
}

/** The run that has done already what is asked for, by a job that was taken up again after its worker died, for instance. */
async function doneBefore(
  { pool, connection }: SyncContext,
  { approval, since }: RunRequest,
): Promise<Run | null> {
  if (approval !== undefined) return unlessFailed(await runOfBatch(pool, approval));
  if (since === undefined) return null;
  const last = await lastRun(pool, connection.name, 'sync');
  return last !== null && last.createdAt >= since ? unlessFailed(last) : null;
}

function unlessFailed(run: Run | null): Run | null {
  return run?.status === 'failed' ? null : run;
}

async function startOrResume(context: LeasedContext, request: RunRequest): Promise<Run> {
  const { pool, connection } = context;
  const settingsHash = hashRequest(context, request);
  const open = await openRun(pool, connection.name, request.mode);
  if (open !== null) {
    const isAllowed = request.allow.every((guard) => open.allow.includes(guard));
    const fresh = open.idleMs < resumeWithin && open.settingsHash === settingsHash && isAllowed;
    if (fresh) return open;
    const message =
      'the run was interrupted and could not be taken up again: it is too old, the settings have changed, or something else was asked for';
    await endRun(context, open, new LeadsyncError('run.abandoned', message));
  }
  const wanted = {
    connection: connection.name,
    mode: request.mode,
    settingsHash,
    allow: request.allow,
    approval: request.approval ?? null,
    undoOf: request.undoOf ?? null,
    baseUrl: connection.leads.baseUrl,
    pageSize: await learnedPageSize(pool, scopeOf(connection), connection.leads.pageSize),
  };
  const run = await inLeasedTransaction(context, (db) => insertRun(db, wanted));
  context.onRun?.(context.log, run);
  return run;
}

/** A run is taken up only by who asks for the same, under the same settings, and allows nothing more. */
function hashRequest({ connection }: SyncContext, { approval, undoOf }: RunRequest): string {
  return hash('sha256', JSON.stringify([settingsHashes(connection), approval ?? null, undoOf ?? null]));
}

/** Ms until another round can tell what became of unfinished creates; null when none is needed or none may follow. */
async function settleDelay(
  { pool, connection, runPolicy: { seesAll } }: StepContext,
  run: Run,
): Promise<number | null> {
  if (run.mode === 'plan' || !seesAll) return null;
  // A filtered scan may show the lead, but never proves that there is none.
  if (run.round > 1 && Object.keys(connection.leads.query).length > 0) return null;
  if (run.refusals.length > 0 || run.round >= maxRounds) return null;
  const attempts = await unsettledAttempts(pool, run.connection);
  if (attempts.length === 0) return null;
  // What the service has made is found by the next scan at once; only "not made" needs the attempt to be over.
  if (run.round === 1) return 0;
  return Math.max(0, attemptOverAfter - Math.min(...attempts));
}

/** Decides by code what an interruption means: wait, try again, or end the run. */
async function interrupted(
  context: StepContext,
  request: RunRequest,
  run: Run,
  error: unknown,
  stop: AbortSignal,
): Promise<RunResult> {
  const { pool, log, clock } = context;
  const fault = asLeadsyncError(error);
  if (fault.code === 'run.lease-lost') return busy;
  if (stop.aborted) return { kind: 'again', afterMs: 0, why: 'stopping' };
  // The lease is lost, whatever it was that this ended.
  if (context.stop.aborted) return busy;
  await pauseRun(pool, run.id);
  if (fault.code === 'leads.rate-limited') {
    const afterMs = fault.retryAfterMs ?? 1_000;
    log.debug({ run: run.id, afterMs }, 'the service is asked again later');
    return { kind: 'again', afterMs, why: 'throttled' };
  }
  if (fault.code === 'target.rate-limited') {
    log.debug(
      { run: run.id, retryAfterMs: fault.retryAfterMs },
      `the target asked to wait. ${fault.message}`,
    );
    return { kind: 'again', afterMs: fault.retryAfterMs ?? 1_000, why: 'target-throttled' };
  }
  const current = (await getRun(pool, run.id)) ?? run;
  if (fault.retry !== 'never' && current.attempts + 1 < request.maxAttempts) {
    await inLeasedTransaction(context, (db) => updateRun(db, run.id, { attempts: current.attempts + 1 }));
    const afterMs = fault.retryAfterMs ?? backoff(current.attempts, clock);
    log.debug({ run: run.id, code: fault.code, attempts: current.attempts + 1, afterMs }, fault.message);
    return { kind: 'again', afterMs, why: 'fault' };
  }
  // Any other fault is in the report, with what helps.
  if (fault.code === 'internal') log.error({ run: run.id, err: fault }, fault.message);
  return { kind: 'finished', run: await endRun(context, current, fault) };
}

function asLeadsyncError(error: unknown): LeadsyncError {
  if (error instanceof LeadsyncError) return error;
  if (isDatabaseOutage(error)) {
    return new LeadsyncError('database.unavailable', 'the database broke off', {
      cause: error,
      retry: 'later',
    });
  }
  return new LeadsyncError('internal', 'something unexpected happened; nothing more was written', {
    cause: error,
    help: 'This is a mistake in leadsync: please report it with the log.',
  });
}

/** Exponential from 250 ms to 5 minutes, with jitter so that several connections do not come back together. */
function backoff(attempts: number, clock: Clock): number {
  return Math.round(Math.min(250 * 2 ** attempts, 300_000) * (0.75 + clock.random() / 2));
}
