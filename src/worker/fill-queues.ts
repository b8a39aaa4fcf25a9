import { queueFor } from '../../jobs/reminder-jobs.ts';
import { editJob, schedulerName, syncQueue, unattended } from '../../jobs/runs.ts';
import { upkeep } from '../../jobs/upkeep.ts';
import type { App } from '../app.ts';
import { lastDue, nextRun } from '../queue/due-times.ts';
import type { JobCounts, Queues } from '../queue/queue.ts';
import { isUntried } from '../reminders/send/batches.ts';
import { repeat } from '../repeat.ts';
import { agreeSchedule, pausedSince, type Schedule, type Timing } from '../store/connections.ts';
import { leaseHolder } from '../store/leases.ts';
import { type Digest, dueDigests, dueReminders, type Reminder } from '../store/mails.ts';
import { lastRun, openRun, type Run } from '../store/runs.ts';
import { connectionsWithEdits } from '../store/requested-edits.ts';
import { leaseName, type SyncContext } from '../sync/context.ts';
import { resumeWithin } from '../sync/run.ts';
import { addDigests, addReminders } from './add-mail-jobs.ts';
import { planMails } from './plan-mails.ts';

/** A run without a lease and without progress for this long (ms) may have lost its job. */
const stalledMs = 60_000;

/**
 * Adds to the queues what the database and the configuration call for: interrupted runs, missed nights, mails that are due
 * soon, and the schedules. Queues may lose everything at any time, so nothing else is in them. They ignore known jobs.
 */
export async function fillQueues(app: App): Promise<void> {
  const agreed = await agreeSchedules(app);
  for (const context of app.contexts.values()) {
    tellOther(context, agreed);
    await addRuns(app, context, agreed);
  }
  await planMails(app);
  // Last: `haveLostSchedules` takes a schedule as the sign that the rest is there, too.
  await setSchedules(app, agreed, () => true);
}

type Agreed = ReadonlyMap<string, Schedule>;

/** The schedules of all connections, on which the workers of this database agree. */
async function agreeSchedules({ contexts, pool }: App): Promise<Agreed> {
  const agreed = new Map<string, Schedule>();
  for (const { connection } of contexts.values()) {
    const { schedule: pattern, timeZone } = connection.sync;
    const nextRunAt = nextRun(pattern, timeZone, Date.now());
    agreed.set(connection.name, await agreeSchedule(pool, connection.name, { pattern, timeZone, nextRunAt }));
  }
  return agreed;
}

function tellOther({ connection: { name, sync }, log }: SyncContext, agreed: Agreed): void {
  const { schedule: pattern, timeZone } = sync;
  const right = agreed.get(name);
  if (right === undefined || !isOtherTiming({ pattern, timeZone }, right)) return;
  log.warn(
    { schedule: right.pattern, timeZone: right.timeZone },
    'a worker with a newer configuration keeps another schedule, which counts as long as one has it: start this worker anew with that configuration',
  );
}

/** Gives the queues the schedules that they lack, or have `isOld`. */
async function setSchedules(
  app: App,
  agreed: Agreed,
  isOld: (own: Timing, known: Timing | null) => boolean,
): Promise<void> {
  const queues = await app.queues();
  for (const { queue, name, pattern, timeZone, job, payload } of schedules(app, agreed)) {
    const known = queues.queue(queue);
    if (isOld({ pattern, timeZone }, await known.scheduled(name)))
      await known.schedule(name, pattern, timeZone, job, payload);
  }
}

function isOtherTiming(own: Timing, known: Timing | null): boolean {
  return known?.pattern !== own.pattern || known.timeZone !== own.timeZone;
}

/** Adds a job for each open run that has none, for example because its queue was away when it broke off. */
async function resumeStalledRuns(app: App): Promise<void> {
  for (const { connection, log } of app.contexts.values()) {
    const { name } = connection;
    const open = await openRun(app.pool, name, 'sync');
    if (open === null || open.idleMs < stalledMs) continue;
    if ((await leaseHolder(app.pool, leaseName(name, 'sync'))) !== null) continue;
    const { waiting, active, delayed } = await (await app.queues()).queue(syncQueue(name)).counts();
    // One delayed job is the next night.
    if (waiting + active > 0 || delayed > 1) continue;
    log.warn({ run: open.id }, 'an interrupted run has no job; leadsync adds one');
    await addRuns(app, { connection, log }, new Map());
  }
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
    await (await queues()).queue(syncQueue(connection)).add(name, payload, options);
  }
}

/** Whether a queue has lost a schedule since `fillQueues`, and with it its jobs. `alsoJob`: or only its next job. */
async function haveLostSchedules(app: App, alsoJob: boolean): Promise<boolean> {
  const queues = await app.queues();
  for (const { queue, name } of schedules(app, new Map())) {
    const known = queues.queue(queue);
    if ((await known.scheduled(name)) === null) return true;
    // Its next job is there at any time: it is made when the one before begins.
    if (alsoJob && isEmpty(await known.counts())) return true;
  }
  return false;
}

function isEmpty({ waiting, active, delayed }: JobCounts): boolean {
  return waiting + active + delayed === 0;
}

/** Adds a job for each sync that has been due for a minute and has neither a run nor a job: a failed job does not come back. */
async function addDueRuns(app: App, agreed: Agreed): Promise<void> {
  for (const { connection, log } of app.contexts.values()) {
    if ((await pausedSince(app.pool, connection.name)) !== null) continue;
    const { waiting, active, delayed } = await (await app.queues())
      .queue(syncQueue(connection.name))
      .counts();
    // One delayed job is the next night.
    if (waiting + active === 0 && delayed <= 1) await addRuns(app, { connection, log }, agreed, lookEveryMs);
  }
}

/** Adds jobs for mails that have been due for a minute while nothing in their queue waits or is under way. */
async function addLostMails(app: App): Promise<void> {
  const queues = await app.queues();
  for (const { connection, pool, log } of app.contexts.values()) {
    const reminders = await dueReminders(pool, connection.name, -lookEveryMs);
    const digests = await dueDigests(pool, [connection.name], -lookEveryMs);
    const byQueue = Map.groupBy([...reminders, ...digests], ({ recipient }) =>
      queueFor(connection, recipient),
    );
    for (const [queue, due] of byQueue) {
      const counts = await queues.queue(queue).counts();
      if (counts.waiting + counts.active > 0) continue;
      const isForgotten = isEmpty(counts);
      const lost = due.filter((one) => (isForgotten ? !one.isSenderThere : isUntried(one)));
      const ids = new Set(lost.map(({ id }) => id));
      const isLost = ({ id }: Digest | Reminder): boolean => ids.has(id);
      // A job that is in no list any more is known all the same. A delayed one may be theirs, and wait for the service.
      const salt = `-again-${Math.floor(Date.now() / (isForgotten ? lookEveryMs : secondJobMs))}`;
      await addReminders(queues, connection, reminders.filter(isLost), salt);
      await addDigests(queues, [connection], digests.filter(isLost), salt);
      if (isForgotten)
        log.warn({ queue, count: lost.length }, 'mails that are due had no job; leadsync adds them again');
    }
  }
}

function schedules({ contexts }: App, agreed: Agreed) {
  const nights = [...contexts.values()].map(({ connection: { name, sync } }) => ({
    queue: syncQueue(name),
    name: schedulerName,
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

/** Adds a job for an interrupted run, and one for a night of an agreed schedule that was missed for longer than `lateMs`. */
async function addRuns(
  app: App,
  { connection: { name }, log }: Pick<SyncContext, 'connection' | 'log'>,
  agreed: Agreed,
  lateMs = 0,
): Promise<void> {
  // A job of the same time that failed, or is in no list any more, is known all the same.
  const again = Math.floor(Date.now() / secondJobMs);
  const queue = (await app.queues()).queue(syncQueue(name));
  const open = await openRun(app.pool, name, 'sync');
  if (open !== null && open.idleMs < resumeWithin) {
    const { job, payload } = resumption(open);
    // The run's own start: a run that is over by then must not be followed by another.
    const requestedAt = Math.floor(open.createdAt);
    await queue.add(job, payload, {
      id: `resume-${open.id}-${Math.floor(open.progressAt)}-${again}`,
      requestedAt,
    });
  }
  const schedule = agreed.get(name);
  const due = schedule === undefined ? null : lastDue(schedule, Date.now() - lateMs);
  if (due === null) return;
  const last = await lastRun(app.pool, name, 'sync');
  if ([open, last].some((run) => run !== null && run.createdAt >= due)) return;
  log.info({ due: new Date(due).toISOString() }, 'the last scheduled sync did not run; it runs now');
  await queue.add('sync', unattended(name), { id: `catch-up-${due}-${again}`, requestedAt: due });
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
        const agreed = await agreeSchedules(app);
        await setSchedules(app, agreed, isOtherTiming);
        await addDueRuns(app, agreed);
        await addLostMails(app);
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
