import { planQueue, planReminders } from '../../jobs/plan-reminders.ts';
import { pruneHistory, pruneQueue } from '../../jobs/prune-history.ts';
import { syncQueue } from '../../jobs/sync.ts';
import { watchAlerts } from '../alerts/watch-alerts.ts';
import { startHttpServer } from '../ops/http.ts';
import { logRun } from '../ops/run-log.ts';
import { alertContext } from './alert-context.ts';
import { fillQueues } from '../worker/fill-queues.ts';
import { keepQueuesFilled } from '../worker/keep-queues-filled.ts';
import type { CommonOptions } from './main.ts';
import { exitCodes } from './output.ts';
import { runHandlers } from './run-job.ts';
import { watchSchema } from '../worker/watch-schema.ts';
import { stopSignal, withApp } from './with-app.ts';
import { workReminders } from '../worker/work-reminders.ts';

/**
 * What is under way goes back by itself within this time (ms). A server that says nothing at all would be waited for
 * without end, and there is nothing to wait for: the next process continues from what is stored.
 */
const stopMs = 9_000;

/** `leadsync worker`: schedules, jobs, reminders and the HTTP port, until SIGTERM. */
export function worker(options: CommonOptions): Promise<void> {
  const stop = stopSignal();
  const endForced = (): void => void setTimeout(() => process.exit(), stopMs).unref();
  stop.addEventListener('abort', endForced, { once: true });
  return withApp(options, async (app) => {
    await using stack = new AsyncDisposableStack();
    const http = stack.use(await startHttpServer(app));
    // An unreadable folder is reported now, not with the first mail.
    for (const [name, { connection }] of app.contexts) {
      if (connection.reminders?.templates) await app.templates.get(name)?.();
    }
    await fillQueues(app);
    const housekeeping = app.queues.queue(pruneQueue);
    // A worker that never runs at that hour prunes when it starts.
    await housekeeping.add('prune-history', {});
    const handlers = runHandlers({ ...app, onRun: logRun });
    const working = [
      ...[...app.contexts.keys()].map((name) => app.queues.queue(syncQueue(name)).work(handlers)),
      app.queues.queue(planQueue).work({ 'plan-reminders': () => planReminders(app) }),
      workReminders(app),
      housekeeping.work({ 'prune-history': (_payload, _job, signal) => pruneHistory(app, signal) }),
    ];
    const work = stack.use(new AsyncDisposableStack());
    // All at once: each may need some seconds for what is under way.
    work.defer(async () => void (await Promise.all(working.map((one) => one[Symbol.asyncDispose]()))));
    work.use(keepQueuesFilled(app));
    stack.use(watchSchema(app, () => work.disposeAsync()));
    const alerting = alertContext(app);
    if (alerting !== null) stack.use(watchAlerts(alerting));
    const { port, url } = http;
    app.log.info({ port, url, connections: [...app.contexts.keys()] }, 'worker is ready');
    try {
      await app.database.watch(stop);
    } catch (error) {
      // Told now: what is under way may not end without the database.
      app.log.error({ err: error }, 'the worker ends');
      process.exitCode = exitCodes.failed;
      endForced();
      throw error;
    }
    app.log.info('stopping: what is under way goes back with its checkpoint');
  });
}
