import { planQueue, planReminders, planRemindersPattern } from '../../jobs/plan-reminders.ts';
import { pruneHistoryPattern, pruneQueue } from '../../jobs/prune-history.ts';
import { schedulerName, syncQueue, unattended } from '../../jobs/sync.ts';
import type { App } from '../app.ts';
import { previousRun } from '../queue/run-times.ts';
import { lastRun, openRun, type Run } from '../store/runs.ts';
import type { SyncContext } from '../sync/context.ts';
import { leaseHolder } from '../store/leases.ts';
import { leaseName } from '../sync/leading.ts';
import { resumeWithin } from '../sync/run.ts';

/** A run without a lease and without progress for so long (ms) may have lost its job. */
const leftMs = 60_000;

interface Schedule {
  readonly queue: string;
  readonly name: string;
  readonly pattern: string;
  readonly timeZone: string;
  readonly job: string;
  readonly payload: object;
}

/**
 * Adds to the queues what the database and the configuration call for: interrupted runs, missed nights, mails that are due
 * soon, and the schedules. Queues may lose everything at any time, so nothing else is in them. They ignore known jobs.
 */
export async function fillQueues(app: App): Promise<void> {
  for (const context of app.contexts.values()) await addRuns(app, context);
  await planReminders(app);
  // Last: `haveForgotten` takes a schedule as the sign that the rest is there, too.
  for (const { queue, name, pattern, timeZone, job, payload } of schedules(app)) {
    await app.queues.queue(queue).schedule(name, pattern, timeZone, job, payload);
  }
}

/**
 * Adds a job for each open run that has none: one that broke off while its queue was away, for instance, could not be put
 * back.
 */
export async function takeUpLeftRuns(app: App): Promise<void> {
  for (const { connection, log } of app.contexts.values()) {
    const { name } = connection;
    const open = await openRun(app.pool, name, 'sync');
    if (open === null || open.idleMs < leftMs) continue;
    if ((await leaseHolder(app.pool, leaseName(name, 'sync'))) !== null) continue;
    const { waiting, active, delayed } = await app.queues.queue(syncQueue(name)).counts();
    // One delayed job is the next night.
    if (waiting + active > 0 || delayed > 1) continue;
    log.warn({ run: open.id }, 'an interrupted run has no job; leadsync adds one');
    await addRuns(app, { connection, log });
  }
}

/** Whether a queue has lost its memory since `fillQueues`. */
export async function haveForgotten(app: App): Promise<boolean> {
  for (const { queue, name } of schedules(app)) {
    if ((await app.queues.queue(queue).nextRun(name)) === null) return true;
  }
  return false;
}

function schedules({ contexts }: App): readonly Schedule[] {
  const nights = [...contexts.values()].map(({ connection: { name, sync } }) => ({
    queue: syncQueue(name),
    name: schedulerName,
    pattern: sync.schedule,
    timeZone: sync.timeZone,
    job: 'sync',
    payload: unattended(name),
  }));
  const daily = (queue: string, job: string, pattern: string): Schedule => ({
    queue,
    name: job,
    pattern,
    timeZone: 'UTC',
    job,
    payload: {},
  });
  return [
    ...nights,
    daily(planQueue, 'plan-reminders', planRemindersPattern),
    daily(pruneQueue, 'prune-history', pruneHistoryPattern),
  ];
}

/** Adds a job for an interrupted run, and one for a missed night. */
async function addRuns(
  app: App,
  { connection: { name, sync }, log }: Pick<SyncContext, 'connection' | 'log'>,
): Promise<void> {
  const queue = app.queues.queue(syncQueue(name));
  const open = await openRun(app.pool, name, 'sync');
  if (open !== null && open.idleMs < resumeWithin) {
    const { job, payload } = resumption(open);
    // The run's own start: a run that is over by then must not be followed by another.
    const requestedAt = Math.floor(open.createdAt);
    await queue.add(job, payload, { id: `resume-${open.id}-${Math.floor(open.progressAt)}`, requestedAt });
  }
  const due = previousRun(sync.schedule, sync.timeZone, Date.now());
  const last = await lastRun(app.pool, name, 'sync');
  if ([open, last].some((run) => run !== null && run.createdAt >= due)) return;
  log.info({ due: new Date(due).toISOString() }, 'the last scheduled sync did not run; it runs now');
  await queue.add('sync', unattended(name), { id: `catch-up-${due}`, requestedAt: due });
}

/** A job with the request of the run. */
function resumption({ connection, allow, approval, undoOf }: Run) {
  const payload = { ...unattended(connection), allow };
  if (approval === null) return { job: 'sync', payload };
  return { job: 'apply', payload: { ...payload, approval, ...(undoOf !== null && { undoOf }) } };
}
