import { forceEnd, runWorker } from '../worker/run-worker.ts';
import { reportToLog } from './output.ts';
import type { CommonOptions } from './program.ts';
import { usualEnd } from './stop.ts';
import { withApp } from './with-app.ts';

export function worker(options: CommonOptions): Promise<void> {
  reportToLog();
  const stop = usualEnd();
  stop.addEventListener('abort', () => forceEnd(), { once: true });
  return withApp(options, (app) => runWorker(app, stop));
}
