import { randomUUID } from 'node:crypto';
import { editJob, syncQueue, unattended } from '../../jobs/runs.ts';
import { upkeep } from '../../jobs/upkeep.ts';
import type { App } from '../app.ts';
import {
  agreeSchedules,
  isSameTiming,
  leaveSchedules,
  pausedSince,
  type Schedule,
} from '../store/connections.ts';
import { isOnTime, lastDue, nextRun } from '../queue/due-times.ts';
import { type JobCounts, noJobs, type Queues } from '../queue/queue.ts';
import { repeat } from '../lib/waiting.ts';
import { leaseHolder } from '../store/leases.ts';
import { lastStarts, openRuns, type Run } from '../store/runs.ts';
import { connectionsWithEdits } from '../store/requested-edits.ts';
import { leaseName, type SyncContext } from '../sync/context.ts';
import { resumeWithin } from '../sync/run.ts';
import { addMailJobs, lostMs, secondJobMs } from './mail-jobs.ts';
import { planMails } from './plan-mails.ts';

/** This process, among those that have a schedule. */
const worker = randomUUID();

/** Ms between two looks for what is due and has no job: a reconnection only knows what Redis has lost whole. */
const lookEveryMs = 60_000;

/**
 * Adds to the queues what the database and the configuration call for: interrupted runs, missed nights, mails that are due
 * soon, and the schedules. Queues may lose everything at any time, so nothing else is in them. They ignore known jobs.
 * `isLook`: only what seems to have lost its job.
 */
export async function fillQueues(app: App, isLook = false): Promise<void> {
  const agreed = await agreeAll(app);
  if (!isLook) for (const context of app.contexts.values()) tellOther(context, agreed);
  await addMissingRuns(app, agreed, isLook);
  if (isLook) await addMailJobs(app, app.contexts.keys(), true);
  else await planMails(app);
  const queue = (await app.queues()).queue(syncQueue);
  const configured = new Set(app.config.configured.map(({ name }) => name));
  for (const name of (await queue.schedules()).keys())
    if (!configured.has(name)) await queue.unschedule(name);
  // Last: `keepQueuesFilled` takes a schedule as the sign that the rest is there, too.
  await setSchedules(app, agreed, isLook);
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

/**
 * Gives the queues their schedules. `isLook`: those that are not there, are not as agreed, or have no next job. Postgres may
 * keep the next time of the schedule before: where a run began in the moment in which it was changed.
 */
async function setSchedules(app: App, agreed: Agreed, isLook: boolean): Promise<void> {
  const queues = await app.queues();
  for (const [queueName, wanted] of Map.groupBy(schedules(app, agreed), ({ queue }) => queue)) {
    const queue = queues.queue(queueName);
    const known = await queue.schedules();
    // The next job of each is there at any time: it is made when the one before begins.
    const { waiting, active, delayed } = await queue.counts();
    const isWhole = isLook && waiting + active + delayed >= wanted.length;
    for (const { name, pattern, timeZone, job, payload } of wanted) {
      const there = known.get(name);
      if (!isWhole || there === undefined || !isSameTiming({ pattern, timeZone }, there) || !isOnTime(there))
        await queue.schedule(name, pattern, timeZone, job, payload);
    }
  }
}

/** Whether a run of the connection waits or is under way; one delayed job is the next night. */
function hasRunJob(jobs: ReadonlyMap<string, JobCounts>, connection: string): boolean {
  const { waiting, active, delayed } = jobs.get(connection) ?? noJobs;
  return waiting + active > 0 || delayed > 1;
}

/** An edit that a run could not carry out is tried again after this time (ms); a sync that works may come before. */
const retryEditsMs = 600_000;

/** Adds a job for requested edits that have none: after an outage, a pause, or a key that did not work. */
async function retryOpenEdits({ pool, queues, contexts }: App): Promise<void> {
  const names = await connectionsWithEdits(pool, [...contexts.keys()], retryEditsMs);
  for (const connection of names) {
    const { name, payload, options } = editJob(connection, `again-${Math.floor(Date.now() / lookEveryMs)}`);
    await (await queues()).queue(syncQueue).add(name, payload, options);
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
  const others = Object.entries(upkeep).map(([job, { queue, pattern }]) => {
    return { queue, name: job, pattern, timeZone: 'UTC', job, payload: {} };
  });
  return [...nights, ...others];
}

/** Adds jobs for open runs, and for nights of the agreed schedules that were missed. `isLook`: where there is no job: a failed one does not come back. */
async function addMissingRuns(app: App, agreed: Agreed, isLook: boolean): Promise<void> {
  const { pool, contexts } = app;
  const waitMs = isLook ? lostMs : 0;
  const names = [...contexts.keys()];
  const openByName = new Map((await openRuns(pool, names)).map((run) => [run.connection, run]));
  const lastByName = await lastStarts(pool, names);
  let jobs: ReadonlyMap<string, JobCounts> | null = null;
  for (const [name, context] of contexts) {
    const found = openByName.get(name) ?? null;
    const open = found !== null && found.idleMs >= waitMs ? found : null;
    const schedule = agreed.get(name);
    const last = schedule === undefined ? null : lastDue(schedule, Date.now() - waitMs);
    const began = Math.max(found?.createdAt ?? 0, lastByName.get(name) ?? 0);
    const due = last === null || began >= last ? null : last;
    if (open === null && due === null) continue;
    if (isLook) {
      jobs ??= await (await app.queues()).queue(syncQueue).countsOfConnections();
      if (hasRunJob(jobs, name) || (await pausedSince(pool, name)) !== null) continue;
      if ((await leaseHolder(pool, leaseName(name, 'sync'))) !== null) continue;
    }
    await addRuns(app, context, open, due);
  }
}

/** Adds a job for the interrupted run, and one for a night (epoch ms) that no run answers for. */
async function addRuns(
  app: App,
  { connection, log }: SyncContext,
  open: Run | null,
  due: number | null,
): Promise<void> {
  const { name } = connection;
  // A job of the same time that failed, or is in no list any more, is known all the same.
  const again = Math.floor(Date.now() / secondJobMs);
  const queue = (await app.queues()).queue(syncQueue);
  if (open !== null && open.idleMs < resumeWithin) {
    log.info({ run: open.id }, 'an interrupted run goes on');
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
      const isForgotten = (await (await app.queues()).queue(syncQueue).countSchedules()) < app.contexts.size;
      if (isForgotten) app.log.warn('the queues lost their jobs; leadsync adds them again from the database');
      const isLook = now - lookedAt >= lookEveryMs;
      if (isForgotten || isNew || isLook) {
        await fillQueues(app, !isForgotten && !isNew);
        lookedAt = now;
      }
      await retryOpenEdits(app);
      seen = connections;
      wasAway = false;
    } catch (error) {
      if (!wasAway && !stop.aborted)
        app.log.warn({ err: error }, 'the queues do not answer; leadsync tries again');
      wasAway = true;
    }
  });
}
