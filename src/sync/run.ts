import { hash } from 'node:crypto';
import type { Clock } from '../ports/clock.ts';
import { explain, LeadsyncError } from '../lib/errors.ts';
import { attemptOverAfter } from '../core/merge/match-lost-creates.ts';
import { openAttempts } from '../store/intents.ts';
import { asOutage, isDatabaseOutage } from '../postgres/database-outage.ts';
import { pausedSince } from '../store/connections.ts';
import { runPolicy } from '../review/run-policy.ts';
import { learnedPageSize } from '../store/services.ts';
import { acquireLease } from '../store/leases.ts';
import {
  inLeasedTransaction,
  type LeasedContext,
  leaseName,
  scopeOf,
  settingsHashes,
  signalsOf,
  type StepContext,
  type SyncContext,
} from './context.ts';
import {
  type Approval,
  countRequests,
  finishRun,
  getRun,
  insertRun,
  lastRun,
  nextRound,
  openRun,
  pauseRun,
  type Phase,
  resumeRun,
  type Run,
  type RunMode,
  runOfBatch,
  type RunStatus,
  updateRun,
} from '../store/runs.ts';
import { beginEdits } from './requested-edits.ts';
import { decide } from './decide.ts';
import { type Forecast, forecastSync } from './forecast.ts';
import { itemCodes, pushLeads } from './push-leads.ts';
import { pushRows } from './push-rows.ts';
import { readTarget, scan } from './read-target.ts';
import { whichPlace } from './which-place.ts';
import { verifyWrites } from './verify.ts';
import { ScanMemory } from './scan-bounds.ts';
import { nothingAudited } from '../core/audit/audit.ts';
import { releaseEdits } from '../store/requested-edits.ts';
import { audit, buildReport, type SyncReport } from './report.ts';

/**
 * A request for a run. `allow`: guard refusals that a person has overridden; `approval`: the name of the reviewed lines that
 * alone it carries out, `approved`: these, unless a run has them already;
 * `undoOf`: the run to undo; `since` (epoch ms): when the sync was requested, so that one that began later has done it.
 * `isUnattended`: nobody waits for it. An outage of the database is thrown and is no attempt, since the queue retries it for as long as
 * it lasts. `isAsked`: a person wants it all the same.
 */
export interface RunRequest {
  readonly mode: RunMode;
  readonly since?: number;
  readonly approval?: string | undefined;
  readonly approved?: Approval | undefined;
  readonly undoOf?: number | undefined;
  readonly allow: readonly string[];
  readonly maxAttempts: number;
  readonly isUnattended?: boolean;
  readonly isAsked?: boolean | undefined;
}

/** `again`: the run keeps its checkpoint and continues after this time (ms); no process waits meanwhile. */
export type RunResult =
  | { readonly kind: 'finished'; readonly run: Run }
  | { readonly kind: 'again'; readonly afterMs: number; readonly why: AgainReason };

/**
 * `throttled`: by the Leads service, for all its connections; `target-throttled`: by the target; `busy`: another process leads
 * the run, or other connections have the memory. None of these counts as an attempt.
 */
export type AgainReason = 'throttled' | 'target-throttled' | 'fault' | 'busy' | 'settling' | 'stopping';

/** An unfinished run is resumed within this time (ms); an older one is abandoned: its scan is out of date. */
export const resumeWithin = 3_600_000;

/** The most scans of a run that look for what became of its creates. */
const maxRounds = 4;

/** The phases that use the scan. */
const scanning: readonly Phase[] = ['pull', 'read', 'plan'];

/** The phases of a run, in order. Each begins from what is stored, so that a killed run continues where it was. */
const steps: Readonly<Record<Exclude<Phase, 'finish'>, (context: StepContext, run: Run) => Promise<Run>>> = {
  pull: scan,
  read: readTarget,
  plan: decide,
  'push-leads': pushLeads,
  'push-rows': pushRows,
  receipt: verifyWrites,
};

/**
 * Starts or resumes the run of a connection, and takes it step by step until it is finished, has to wait, or is stopped.
 * Faults end up in the run's report; they are not thrown.
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
    // Awaited here: the lease has to outlive the run.
    return await advance(leased, request, stop);
  } catch (error) {
    if (lease.lost.aborted) return busy;
    throw error;
  }
}

/** Another process has the lease. */
const busy: RunResult = { kind: 'again', afterMs: 1_000, why: 'busy' };

async function advance(leased: LeasedContext, request: RunRequest, stop: AbortSignal): Promise<RunResult> {
  const { pool, log } = leased;
  // Under the lease: a run that ended before it was taken would be done twice.
  const done = await doneBefore(leased, request);
  if (done !== null) return { kind: 'finished', run: done };
  let run = await startOrResume(leased, request);
  using memory = new ScanMemory();
  const isAsked = request.isAsked === true || request.isUnattended !== true;
  const step: StepContext = { ...leased, isAsked, runPolicy: runPolicy(run), memory };
  await resumeRun(pool, run.id);
  const spent = () => ({ leads: step.leads.requests, target: step.target.requests });
  let counted = spent();
  const { pacedMs, answerMs } = step.leads;
  const begun = { ...counted, pacedMs, answerMs, at: step.clock.now() };
  const count = async (): Promise<void> => {
    const [before, now] = [counted, spent()];
    counted = now;
    const [leads, target] = [now.leads - before.leads, now.target - before.target];
    await countRequests(pool, run.id, { leads, target });
  };
  const again = async (afterMs: number, why: AgainReason): Promise<RunResult> => {
    await pauseRun(pool, run.id);
    return { kind: 'again', afterMs, why };
  };
  try {
    if (!step.runPolicy.leadsAlone) run = await whichPlace(step, run);
    while (run.phase !== 'finish') {
      step.stop.throwIfAborted();
      const isPausable = run.mode !== 'plan';
      if (isPausable && (await pausedSince(pool, step.connection.name)) !== null)
        return await again(0, 'stopping');
      log.debug({ run: run.id, phase: run.phase, round: run.round }, 'step');
      run = await traced(step, run, steps[run.phase]);
      // Nothing after the plan uses the scan; others may wait for its memory.
      if (!scanning.includes(run.phase)) memory[Symbol.dispose]();
      await count();
    }
    const delayMs = await nextRoundDelay(step, run);
    if (delayMs !== null && delayMs > 0) return await again(delayMs, 'settling');
    if (delayMs === 0) {
      await inLeasedTransaction(step, (db) => nextRound(db, run.id));
      return { kind: 'again', afterMs: 0, why: 'settling' };
    }
    const worked = step.clock.now() - begun.at - (step.leads.pacedMs - begun.pacedMs);
    const work = {
      ms: Math.max(0, worked),
      answerMs: step.leads.answerMs - begun.answerMs,
      requests: counted.leads - begun.leads,
    };
    const forecast = run.mode === 'plan' ? await forecastSync(step, run, work) : undefined;
    return { kind: 'finished', run: await endRun(step, run, null, forecast) };
  } catch (error) {
    await count();
    return await interrupted(step, request, run, error, stop);
  }
}

function traced(
  step: StepContext,
  run: Run,
  phase: (step: StepContext, run: Run) => Promise<Run>,
): Promise<Run> {
  const { inSpan = (_name, _attributes, part) => part() } = step;
  const attributes = { connection: step.connection.name, run: run.id, phase: run.phase, round: run.round };
  return inSpan(run.phase, attributes, () => phase(step, run));
}

/** The run that has done what is requested, for example before the worker of this job died. */
async function doneBefore(
  { pool, connection }: SyncContext,
  { approval, since, allow }: RunRequest,
): Promise<Run | null> {
  if (approval !== undefined) return unlessFailed(await runOfBatch(pool, approval));
  if (since === undefined) return null;
  const last = await lastRun(pool, connection.name, 'sync');
  if (last === null || last.createdAt < since) return null;
  // One that a guard stopped does not stand in for one that a person has allowed to go on.
  const isAllowed = last.status !== 'stopped' || allow.every((guard) => last.allow.includes(guard));
  return isAllowed ? unlessFailed(last) : null;
}

const unlessFailed = (run: Run | null): Run | null => (run?.status === 'failed' ? null : run);

async function startOrResume(context: LeasedContext, request: RunRequest): Promise<Run> {
  const { pool, connection } = context;
  const settingsHash = hashRequest(context, request);
  const open = await openRun(pool, connection.name, request.mode);
  if (open !== null) {
    const isAllowed = request.allow.every((guard) => open.allow.includes(guard));
    if (open.idleMs < resumeWithin && open.settingsHash === settingsHash && isAllowed) return open;
    const message =
      'the run was interrupted and could not be resumed: it is too old, the settings have changed, or the request is another one';
    await endRun(context, open, new LeadsyncError('run.abandoned', message));
  }
  const wanted = {
    connection: connection.name,
    mode: request.mode,
    settingsHash,
    allow: request.allow,
    approval: request.approval ?? null,
    approved: request.approved,
    undoOf: request.undoOf ?? null,
    baseUrl: connection.leads.baseUrl,
    pageSize: await learnedPageSize(pool, scopeOf(connection), connection.leads.pageSize),
  };
  const run = await inLeasedTransaction(context, async (db) => {
    const inserted = await insertRun(db, wanted);
    return request.mode === 'edit' ? beginEdits(db, inserted) : inserted;
  });
  context.onRun?.(context.log, run);
  return run;
}

/** A run is resumed only for the same request under the same settings. */
function hashRequest({ connection }: SyncContext, { approval, undoOf }: RunRequest): string {
  return hash('sha256', JSON.stringify([settingsHashes(connection), approval ?? null, undoOf ?? null]));
}

/** Ms until another round can tell what became of unfinished creates; null: none is needed, or none may follow. */
async function nextRoundDelay(
  { pool, connection, runPolicy: { seesAll } }: StepContext,
  run: Run,
): Promise<number | null> {
  if (run.mode === 'plan' || !seesAll) return null;
  // A filtered scan may show the lead, but never proves that there is none.
  if (run.round > 1 && Object.keys(connection.leads.query).length > 0) return null;
  if (run.refusals.length > 0 || run.round >= maxRounds) return null;
  const attempts = await openAttempts(pool, run.connection);
  if (attempts.length === 0) return null;
  // The next scan finds a created lead at once; only "not created" needs the attempt to be over.
  if (run.round === 1) return 0;
  return Math.max(0, attemptOverAfter - Math.min(...attempts));
}

/** Decides by code whether an interrupted run waits, is tried again, or ends. */
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
  // The lease is lost, whatever the error says.
  if (context.stop.aborted) return busy;
  if (request.isUnattended === true && isDatabaseOutage(error)) throw error;
  await pauseRun(pool, run.id);
  const isTarget = fault.code === 'target.rate-limited';
  if (isTarget || fault.code === 'leads.rate-limited') {
    const afterMs = fault.retryAfterMs ?? 1_000;
    log.debug({ run: run.id, afterMs }, fault.message);
    return { kind: 'again', afterMs, why: isTarget ? 'target-throttled' : 'throttled' };
  }
  if (fault.code === 'memory.too-small' && fault.retry === 'later') {
    const afterMs = spread(fault.retryAfterMs ?? 1_000, clock);
    log.debug({ run: run.id, afterMs }, fault.message);
    return { kind: 'again', afterMs, why: 'busy' };
  }
  const current = (await getRun(pool, run.id)) ?? run;
  if (fault.retry !== 'never' && current.attempts + 1 < request.maxAttempts) {
    const since = (current.attempts > 0 && current.fault?.since) || clock.now();
    const { code, message } = fault;
    const failed = { attempts: current.attempts + 1, fault: { code, message, since } };
    await inLeasedTransaction(context, (db) => updateRun(db, run.id, failed));
    const afterMs = fault.retryAfterMs ?? backoff(current.attempts, clock);
    log.debug({ run: run.id, code: fault.code, attempts: current.attempts + 1, afterMs }, fault.message);
    return { kind: 'again', afterMs, why: 'fault' };
  }
  // Other faults are in the report, with their help.
  if (fault.code === 'internal') log.error({ run: run.id, err: fault }, fault.message);
  return { kind: 'finished', run: await endRun(context, current, fault) };
}

function asLeadsyncError(thrown: unknown): LeadsyncError {
  const error = asOutage(thrown);
  if (error instanceof LeadsyncError) return error;
  return new LeadsyncError('internal', 'something unexpected happened; nothing more was written', {
    cause: error,
    help: 'This is a mistake in leadsync: please report it with the log.',
  });
}

/** Exponential from 250 ms to 5 minutes. */
function backoff(attempts: number, clock: Clock): number {
  return spread(Math.min(250 * 2 ** attempts, 300_000), clock);
}

/** A wait with jitter, which keeps connections from retrying together. */
function spread(ms: number, clock: Clock): number {
  return Math.round(ms * (0.75 + clock.random() / 2));
}

/** Faults that need a person, like a refusal of the guard; by the refusal that `--allow` overrides, null: none. */
const needsPerson: ReadonlyMap<string, string | null> = new Map([
  ['target.header-missing', null],
  ['target.id-column-missing', null],
  ['target.pause-column-missing', null],
  ['target.incomplete', null],
  ['target.emptied', null],
  ['target.gone', 'target-gone'],
]);

/** Ends a run with its report; `fault`: what ended it. */
async function endRun(
  context: LeasedContext,
  run: Run,
  fault: LeadsyncError | null,
  forecast?: Forecast,
): Promise<Run> {
  const { pool, clock } = context;
  await resumeRun(pool, run.id);
  const end = async (status: RunStatus, report: SyncReport): Promise<Run> => {
    const ended = await inLeasedTransaction(context, async (db) => {
      if (run.mode === 'edit') await releaseEdits(db, run, fault && explain(fault), itemCodes);
      return finishRun(db, run.id, status, report);
    });
    context.onRun?.(context.log, ended);
    return ended;
  };
  if (fault !== null && needsPerson.has(fault.code)) {
    const refusals = [{ code: needsPerson.get(fault.code) ?? fault.code, message: explain(fault) }];
    const stopped = await inLeasedTransaction(context, (db) => updateRun(db, run.id, { refusals }));
    const report = await buildReport(pool, stopped, null, clock.now());
    return end('stopped', report);
  }
  const current = (await getRun(pool, run.id)) ?? run;
  const failure = fault && { code: fault.code, message: explain(fault) };
  const audited = failure === null ? await audit(context, current) : nothingAudited;
  const built = await buildReport(pool, current, failure, clock.now(), audited, context.connection.fields);
  const report = forecast === undefined ? built : { ...built, forecast };
  return end(report.status, report);
}
