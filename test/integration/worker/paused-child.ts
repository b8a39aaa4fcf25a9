/**
 * A process that syncs the connection of the current folder to its end, with a lease that lives for the time given (ms).
 * It prints how the first attempt ended: `finished` with the run's status, or why it has to come again.
 */
import { pino } from 'pino';
import { openWorker } from '../../../src/worker/open-worker.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { advanceRun } from '../../../src/sync/run.ts';
import { connectionName } from '../../support/workspace.ts';

const [, , leaseMs = ''] = process.argv;
const config = await loadConfig({ env: process.env, cwd: process.cwd() });
await using app = await openWorker(config, pino({ level: 'silent' }));
const context = app.contexts.get(connectionName);
if (context === undefined) throw new Error('the connection is not configured');
const request = { mode: 'sync', allow: ['first-leads'], maxAttempts: 3 } as const;
const result = await advanceRun(
  { ...context, leaseMs: Number(leaseMs) },
  request,
  new AbortController().signal,
);
console.log(result.kind === 'finished' ? `finished ${result.run.status}` : result.why);
