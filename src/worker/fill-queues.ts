import { randomUUID } from 'node:crypto';
import { editJob, syncQueue, unattended } from '../../jobs/runs.ts';
import { upkeep } from '../../jobs/upkeep.ts';
import type { App } from '../app.ts';
import { isSameTiming, type Timing } from '../store/agreed-schedule.ts';
import { lastDue, nextRun } from '../queue/due-times.ts';
import { type JobCounts, noJobs, type Queues } from '../queue/queue.ts';
import { repeat } from '../lib/repeat.ts';
import { agreeSchedules, leaveSchedules, pausedSince, type Schedule } from '../store/connections.ts';
import { leaseHolder } from '../store/leases.ts';
import { lastStarts, openRuns, type Run } from '../store/runs.ts';
import { connectionsWithEdits } from '../store/requested-edits.ts';
import { leaseName, type SyncContext } from '../sync/context.ts';
import { resumeWithin } from '../sync/run.ts';
import { addMailJobs } from './mail-jobs.ts';
import { planMails } from './plan-mails.ts';

/** This process, among those that have a schedule. */
const worker = randomUUID();

/** A run without a lease and without progress for this long (ms) may have lost its job. */
const stalledMs = 60_000;

/**
 * Adds to the queues what the database and the configuration call for: interrupted runs, missed nights, mails that are due
 * soon, and the schedules. Queues may lose everything at any time, so nothing else is in them. They ignore known jobs.
 */
export async function fillQueues(app: App): Promise<void> {
  const agreed = await agreeAll(app);
  for (const context of app.contexts.values()) tellOther(context, agreed);
  for (const missing of await missingRuns(app, agreed, 0)) await addRuns(app, missing);
  await planMails(app);
  const queue = (await app.queues()).queue(syncQueue);
  const configured = new Set(app.config.configured.map(({ name }) => name));
  for (const name of (await queue.schedules()).keys())
    if (!configured.has(name)) await queue.unschedule(name);
  // Last: `haveLostSchedules` takes a schedule as the sign that the rest is there, too.
  await setSchedules(app, agreed, () => true);
}

type Agreed = ReadonlyMap<string, Schedule>;

/** The schedules of all connections, on which the workers of this database agree. */
function agreeAll({ contexts, pool }: App): Promise<Agreed> {
  const now = Date.now();
  const own = [...contexts.values()].map(({ connection: { name, sync } }) => {
    const { schedule: pattern, timeZone } = sync;
    return { connection: name, pattern, timeZone, nextRunAt: nextRun(pattern, timeZone, now) };
  });
  return agreeSchedules(pool, worker, own);
}

/** For a worker that stops, and fills its queues no more. */
export function leaveAll({ contexts, pool }: App): Promise<void> {
  return leaveSchedules(pool, worker, [...contexts.keys()]);
}

function tellOther({ connection: { name, sync }, log }: SyncContext, agreed: Agreed): void {
  const { schedule: pattern, timeZone } = sync;
  const right = agreed.get(name);
  if (right === undefined || isSameTiming({ pattern, timeZone }, right)) return;
  log.warn(
    { schedule: right.pattern, timeZone: right.timeZone },
    'another schedule counts, which a worker had for the first time after this one: while a worker has it, or three minutes more when that one was killed. Start all workers with the same configuration',
  );
}

/** Gives the queues the schedules that they lack, or have `isOld`. */
async function setSchedules(
  app: App,
  agreed: Agreed,
  isOld: (own: Timing, known: Timing | undefined) => boolean,
): Promise<void> {
  const queues = await app.queues();
  for (const [queueName, wanted] of Map.groupBy(schedules(app, agreed), ({ queue }) => queue)) {
    const queue = queues.queue(queueName);
    const known = await queue.schedules();
    for (const { name, pattern, timeZone, job, payload } of wanted)
      if (isOld({ pattern, timeZone }, known.get(name)))
        await queue.schedule(name, pattern, timeZone, job, payload);
  }
}

function isOtherTiming(own: Timing, known: Timing | undefined): boolean {
  return !isSameTiming(own, known);
}

/** Adds a job for each open run that has none, for example because its queue was away when it broke off. */
async function resumeStalledRuns(app: App): Promise<void> {
  const stalled = (await openRuns(app.pool, [...app.contexts.keys()])).filter(
    ({ idleMs }) => idleMs >= stalledMs,
  );
  if (stalled.length === 0) return;
  const jobs = await runJobs(app);
  for (const open of stalled) {
    const context = app.contexts.get(open.connection);
    if (context === undefined || hasRunJob(jobs, open.connection)) continue;
    if ((await leaseHolder(app.pool, leaseName(open.connection, 'sync'))) !== null) continue;
    context.log.warn({ run: open.id }, 'an interrupted run has no job; leadsync adds one');
    await addRuns(app, { context, open, due: null });
  }
}

async function runJobs({ queues }: App): Promise<ReadonlyMap<string, JobCounts>> {
  return (await queues()).queue(syncQueue).countsOfConnections();
}

/** Whether a run of the connection waits or is under way; one delayed job is the next night. */
function hasRunJob(jobs: ReadonlyMap<string, JobCounts>, connection: string): boolean {
  const { waiting, active, delayed } = jobs.get(connection) ?? noJobs;
  return waiting + active > 0 || delayed > 1;
}

/** Ms between two looks for what is due and has no job: a reconnection, and `fillQueues`, only know what Redis has lost whole. */
const lookEveryMs = 60_000;

/** Ms after which work that is still due gets another job beside one that should be there. */
const secondJobMs = 600_000;

/** An edit that a run could not carry out is tried again after this time (ms); a sync that works may come before. */
const retryEditsMs = 600_000;

/** Adds a job for requested edits that have none: after an outage, a pause, or a key that did not work. */
async function retryOpenEdits({ pool, queues, contexts }: App): Promise<void> {
  const names = await connectionsWithEdits(pool, [...contexts.keys()], retryEditsMs);
  for (const connection of names) {
    const { name, payload, options } = editJob(connection, `again-${Math.floor(Date.now() / stalledMs)}`);
    await (await queues()).queue(syncQueue).add(name, payload, options);
  }
}

/** Whether a queue has lost a schedule since `fillQueues`, and with it its jobs. `isLook`: or a part of one, or its next job. */
async function haveLostSchedules(app: App, isLook: boolean): Promise<boolean> {
  const queues = await app.queues();
  for (const [name, wanted] of Map.groupBy(schedules(app, new Map()), ({ queue }) => queue)) {
    const queue = queues.queue(name);
    if ((await queue.countSchedules()) < wanted.length) return true;
    if (!isLook) continue;
    const whole = await queue.schedules();
    if (wanted.some((schedule) => !whole.has(schedule.name))) return true;
    // The next job of each is there at any time: it is made when the one before begins.
    const { waiting, active, delayed } = await queue.counts();
    if (waiting + active + delayed < wanted.length) return true;
  }
  return false;
}

/** Adds a job for each sync that has been due for a minute and has neither a run nor a job: a failed job does not come back. */
async function addDueRuns(app: App, agreed: Agreed): Promise<void> {
  const missing = await missingRuns(app, agreed, lookEveryMs);
  if (missing.length === 0) return;
  const jobs = await runJobs(app);
  for (const one of missing) {
    const { name } = one.context.connection;
    if (hasRunJob(jobs, name) || (await pausedSince(app.pool, name)) !== null) continue;
    await addRuns(app, one);
  }
}

function schedules({ contexts }: App, agreed: Agreed) {
  const nights = [...contexts.values()].map(({ connection: { name, sync } }) => ({
    queue: syncQueue,
    name,
    pattern: agreed.get(name)?.pattern ?? sync.schedule,
    timeZone: agreed.get(name)?.timeZone ?? sync.timeZone,
    job: 'sync',
    payload: unattended(name),
  }));
  const others = Object.entries(upkeep).map(([job, { queue, pattern }]) => ({
    queue,
    name: job,
    pattern,
    timeZone: 'UTC',
    job,
    payload: {},
  }));
  return [...nights, ...others];
}

/** A run that may lack a job: the interrupted one, and a night (epoch ms) that no run answers for. */
interface MissingRuns {
  readonly context: Pick<SyncContext, 'connection' | 'log'>;
  readonly open: Run | null;
  readonly due: number | null;
}

/** Of all connections those with an open run, or with a night of an agreed schedule that was missed for longer than `lateMs`. */
async function missingRuns(
  { pool, contexts }: App,
  agreed: Agreed,
  lateMs: number,
): Promise<readonly MissingRuns[]> {
  const names = [...contexts.keys()];
  const openByName = new Map((await openRuns(pool, names)).map((run) => [run.connection, run]));
  const lastByName = await lastStarts(pool, names);
  return [...contexts.values()].flatMap((context) => {
    const { name } = context.connection;
    const open = openByName.get(name) ?? null;
    const schedule = agreed.get(name);
    const last = schedule === undefined ? null : lastDue(schedule, Date.now() - lateMs);
    const began = Math.max(open?.createdAt ?? 0, lastByName.get(name) ?? 0);
    const due = last === null || began >= last ? null : last;
    return open === null && due === null ? [] : [{ context, open, due }];
  });
}

/** Adds a job for the interrupted run, and one for the missed night. */
async function addRuns(app: App, { context, open, due }: MissingRuns): Promise<void> {
  const { connection, log } = context;
  const { name } = connection;
  // A job of the same time that failed, or is in no list any more, is known all the same.
  const again = Math.floor(Date.now() / secondJobMs);
  const queue = (await app.queues()).queue(syncQueue);
  if (open !== null && open.idleMs < resumeWithin) {
    const { job, payload } = resumption(open);
    // The run's own start: a run that is over by then must not be followed by another.
    const requestedAt = Math.floor(open.createdAt);
    await queue.add(job, payload, {
      id: `resume-${open.id}-${Math.floor(open.progressAt)}-${again}`,
      requestedAt,
    });
  }
  if (due === null) return;
  log.info({ due: new Date(due).toISOString() }, 'the last scheduled sync did not run; it runs now');
  await queue.add('sync', unattended(name), { id: `catch-up-${name}-${due}-${again}`, requestedAt: due });
}

function resumption({ connection, allow, approval, undoOf }: Run) {
  const payload = { ...unattended(connection), allow };
  if (approval === null) return { job: 'sync', payload };
  return { job: 'apply', payload: { ...payload, approval, ...(undoOf !== null && { undoOf }) } };
}

const checkEveryMs = 5_000;

/**
 * Checks every few seconds whether the queues still have their schedules, until it is disposed. When they do not (a Redis
 * that was emptied, or came back without its data), after an outage, and after each reconnection to Redis, it fills them
 * again from the database. Every minute it looks for what is due and has no job.
 */
export function keepQueuesFilled(app: App, queues: Pick<Queues, 'connections'>): AsyncDisposable {
  let wasAway = false;
  let seen = queues.connections();
  let lookedAt = performance.now();
  return repeat(checkEveryMs, async (stop) => {
    try {
      const now = performance.now();
      const connections = queues.connections();
      const isNew = wasAway || connections !== seen;
      const isLook = isNew || now - lookedAt >= lookEveryMs;
      const forgotten = await haveLostSchedules(app, isLook);
      if (forgotten) app.log.warn('the queues lost their jobs; leadsync adds them again from the database');
      if (forgotten || isNew) await fillQueues(app);
      else await resumeStalledRuns(app);
      await retryOpenEdits(app);
      if (isLook) {
        const agreed = await agreeAll(app);
        await setSchedules(app, agreed, isOtherTiming);
        await addDueRuns(app, agreed);
        await addMailJobs(app, app.contexts.keys(), true);
        lookedAt = now;
      }
      seen = connections;
      wasAway = false;
    } catch (error) {
      if (!wasAway && !stop.aborted)
        app.log.warn({ err: error }, 'the queues do not answer; leadsync tries again');
      wasAway = true;
    }
  });
}
