import { planQueue, planReminders, planRemindersPattern } from '../../jobs/plan-reminders.ts';
import { pruneHistory, pruneHistoryPattern, pruneQueue } from '../../jobs/prune-history.ts';
import { schedulerName, syncQueue } from '../../jobs/sync.ts';
import type { App } from '../app.ts';
import { startHttpServer } from '../ops/http.ts';
import { previousRun } from '../queue/queue.ts';
import { lastRun } from '../store/runs.ts';
import type { SyncContext } from '../sync/context.ts';
import type { CommonOptions } from './main.ts';
import { runHandlers } from './run-job.ts';
import { stopSignal, withApp } from './with-app.ts';
import { workReminders } from './work-reminders.ts';

/** Tries before a nightly run gives up: about three hours of a service that is away, or of a file that is open. */
const nightlyPatience = 45;

/** `leadsync worker`: schedules, jobs, reminders and the HTTP port, until SIGTERM. */
export function worker(options: CommonOptions): Promise<void> {
  const stop = stopSignal();
  return withApp(options, async (app) => {
    await using stack = new AsyncDisposableStack();
    const http = stack.use(await startHttpServer(app));
    for (const context of app.contexts.values()) {
      await schedule(app, context);
      stack.use(app.queues.queue(syncQueue(context.connection.name)).work(runHandlers(app)));
    }
    await planReminders(app);
    const planning = app.queues.queue(planQueue);
    await planning.schedule('plan-reminders', planRemindersPattern, 'UTC', 'plan-reminders', {});
    stack.use(planning.work({ 'plan-reminders': () => planReminders(app) }));
    stack.use(workReminders(app));
    const housekeeping = app.queues.queue(pruneQueue);
    await housekeeping.schedule('prune-history', pruneHistoryPattern, 'UTC', 'prune-history', {});
    // A worker that never runs at that hour prunes when it starts.
    await housekeeping.add('prune-history', {});
    stack.use(housekeeping.work({ 'prune-history': (_payload, _job, signal) => pruneHistory(app, signal) }));
    const { port, url } = http;
    app.log.info({ port, url, connections: [...app.contexts.keys()] }, 'worker is ready');
    await new Promise<void>((resolve) => {
      if (stop.aborted) resolve();
      stop.addEventListener('abort', () => resolve(), { once: true });
    });
    app.log.info('stopping: what is under way goes back with its checkpoint');
  });
}

/** Keeps the schedule of a connection, and catches up once on the night that was missed while no worker ran. */
async function schedule(app: App, { connection, log }: SyncContext): Promise<void> {
  const { name, sync } = connection;
  const queue = app.queues.queue(syncQueue(name));
  const payload = { connection: name, allow: [], patience: nightlyPatience };
  await queue.schedule(schedulerName, sync.schedule, sync.timeZone, 'sync', payload);
  const due = previousRun(sync.schedule, sync.timeZone, Date.now());
  const last = await lastRun(app.pool, name, 'sync');
  if (last !== null && last.createdAt >= due) return;
  log.info(
    { due: new Date(due).toISOString() },
    'the last scheduled sync did not run; it is made up for now',
  );
  await queue.add('sync', payload, { id: `catch-up-${due}` });
}
