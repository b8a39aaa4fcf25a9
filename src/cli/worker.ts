import { openWorker } from '../worker/open-worker.ts';
import { forceEnd, runWorker } from '../worker/run-worker.ts';
import { reportToLog } from './output.ts';
import type { CommonOptions } from './with-store.ts';
import { untilStopped } from './stop.ts';
import { withOpened } from './with-app.ts';

export function worker(options: CommonOptions): Promise<void> {
  reportToLog();
  const stop = untilStopped();
  stop.addEventListener('abort', () => forceEnd(), { once: true });
  return withOpened(options, openWorker, (app) => runWorker(app, stop));
}
