import { forceEnd, runWorker } from '../worker/run-worker.ts';
import type { CommonOptions } from './program.ts';
import { stopSignal, withApp } from './with-app.ts';

/** `leadsync worker`: schedules, jobs, reminders and the HTTP port, until SIGTERM. */
export function worker(options: CommonOptions): Promise<void> {
  const stop = stopSignal();
  stop.addEventListener('abort', () => forceEnd(), { once: true });
  return withApp(options, (app) => runWorker(app, stop));
}
