import { runHandlers, syncQueue } from '../../jobs/runs.ts';
import { upkeep } from '../../jobs/upkeep.ts';
import { watchAlerts } from '../alerts/watch-alerts.ts';
import type { WorkerApp } from './open-worker.ts';
import { startHttpServer } from '../ops/http.ts';
import { logRun } from '../ops/run-log.ts';
import { retryCalendars } from '../store/calendar-entries.ts';
import { claimInstallation } from './claim-installation.ts';
import { fillQueues, keepQueuesFilled, leaveAll } from './fill-queues.ts';
import { workMails } from './work-mails.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { explain, LeadsyncError } from '../lib/errors.ts';
import { assertNotMoved } from '../store/keeper.ts';
import { assertKnownSchema } from '../store/migrate.ts';

/**
 * Jobs under way go back within this time (ms). A silent server would keep the process for ever, and for nothing: the next process
 * continues from what is stored.
 */
const stopMs = 9_000;

/** Ends the process after `stopMs`, unless it ends earlier. `code`: its exit code; by default that of the process. */
export function forceEnd(code?: number): void {
  setTimeout(() => process.exit(code), stopMs).unref();
}

/** Works until `stop` aborts: schedules, jobs, reminders and the HTTP port. Throws when the database cannot be used any more. */
export async function runWorker(app: WorkerApp, stop: AbortSignal): Promise<void> {
  await using stack = new AsyncDisposableStack();
  let stopWork = async (): Promise<void> => {};
  stack.use(await claimInstallation(app, (fault) => void endWork(app, fault, () => stopWork())));
  const { port, url } = stack.use(await startHttpServer(app));
  // An unreadable folder is reported now, not with the first mail.
  for (const [name, { connection }] of app.contexts) {
    if (connection.reminders?.templates) await app.templates.get(name)?.();
  }
  await fillQueues(app);
  await retryCalendars(app.pool, [...app.contexts.keys()]);
  // A worker that never runs at that hour prunes when it starts.
  const queues = await app.queues();
  await queues.queue(upkeep['prune-history'].queue).add('prune-history', {});
  const working = [
    // As many as there are connections: those that wait for a slot have theirs, and each has one job under way, as a rule.
    queues.queue(syncQueue).work(runHandlers({ ...app, onRun: logRun }), app.contexts.size),
    ...Object.entries(upkeep).map(([name, { queue, run }]) =>
      queues
        .queue(queue)
        .work({ [name]: async (_payload, _job, signal) => ({ done: await run(app, signal) }) }),
    ),
    await workMails(app),
  ];
  const work = stack.use(new AsyncDisposableStack());
  // All at once: each may need some seconds for what is under way.
  work.defer(async () => void (await Promise.all(working.map((one) => one[Symbol.asyncDispose]()))));
  work.use(keepQueuesFilled(app, queues));
  stopWork = () => work.disposeAsync();
  stack.use(watchState(app, stopWork));
  if (app.alerting !== null) stack.use(watchAlerts(app.alerting));
  app.log.info({ port, url, connections: [...app.contexts.keys()] }, 'worker is ready');
  try {
    const watched = app.config.redisUrl === undefined ? [app.database] : [app.database, app.queue];
    await Promise.all(watched.map((one) => one.watch(stop)));
  } catch (error) {
    // Logged now: what is under way may not end without the database.
    app.log.error({ err: error }, 'the worker ends');
    forceEnd(1);
    throw error;
  }
  app.log.info('stopping: what is under way goes back with its checkpoint');
  await stopWork();
  // Without an answer it counts for some minutes more.
  await leaveAll(app).catch(() => {});
}

/** Takes no more work, and returns to the queue what is under way; once. */
async function endWork(app: WorkerApp, fault: LeadsyncError, stopWork: () => Promise<void>): Promise<void> {
  if (app.outdated !== null) return;
  app.outdated = fault;
  const { code } = fault;
  app.log.error({ code }, `this worker stops taking work. ${explain(fault)}`);
  await stopWork();
  app.log.warn(
    { code },
    'this worker takes no work any more; what was under way went back with its checkpoint',
  );
}

const checkEveryMs = 5_000;

/** After which a worker has nothing to do with a database any more. */
const over: ReadonlySet<string> = new Set(['database.newer-schema', 'state.moved']);

/**
 * Checks every few seconds whether a newer version has set up the database, or the state has moved away, until it is disposed.
 * Then this process is `outdated`, and `stopWork` returns the jobs under way to the queue.
 */
function watchState(app: WorkerApp, stopWork: () => Promise<void>): AsyncDisposable {
  const stop = new AbortController();
  const { signal } = stop;
  const watch = async (): Promise<void> => {
    while (app.outdated === null && (await sleep(checkEveryMs, true, { signal }).catch(() => false))) {
      try {
        await assertKnownSchema(app.pool);
        await assertNotMoved(app.pool);
      } catch (error) {
        // Any other fault is an outage: the next check tries again.
        if (error instanceof LeadsyncError && over.has(error.code)) await endWork(app, error, stopWork);
      }
    }
  };
  const watching = watch();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await watching;
    },
  };
}
