import type { App } from '../app.ts';
import { counted } from '../core/lead/wording.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { countKept, forgetConnection, type KeptRows } from '../store/retention.ts';
import { acquireLease } from '../store/leases.ts';
import { forgetJobs } from '../worker/housekeeping.ts';
import { leaseName } from '../sync/context.ts';
import type { CommonOptions } from './with-store.ts';
import { print, printJson } from './output.ts';
import { stopping } from './stop.ts';
import { withApp } from './with-app.ts';

interface ForgetOptions extends CommonOptions {
  readonly yes?: boolean;
}

export function forget(name: string, options: ForgetOptions): Promise<void> {
  return withApp(options, async (app) => {
    if (app.config.configured.some((connection) => connection.name === name)) {
      throw new LeadsyncError('usage.configured', `${name} is still configured. Nothing was deleted`, {
        help: 'Remove it from leadsync.yaml, stop or restart every worker that has it, then forget it.',
      });
    }
    const found = await countKept(app.pool, name);
    if (found.length === 0) {
      throw new LeadsyncError('usage.unknown-connection', `there is no state of a connection ${name}`, {
        help: 'Use the name from leadsync.yaml.',
      });
    }
    const tables = options.yes === true ? await deleteAll(app, name) : found;
    if (options.json) return printJson({ connection: name, deleted: options.yes === true, tables });
    for (const { table, rows } of tables) print(`${table}: ${counted(rows, 'row')}`);
    print(
      options.yes === true
        ? `${name} is forgotten. Its table and its leads were not touched.`
        : `This is the state of ${name}; nothing was deleted. --yes deletes it permanently: why and undo lose its history, and a connection of this name starts from scratch.`,
    );
  });
}

async function deleteAll(app: App, name: string): Promise<readonly KeptRows[]> {
  // No run may begin meanwhile.
  await using sync = await acquireLease(app.pool, leaseName(name, 'sync'));
  await using plan = await acquireLease(app.pool, leaseName(name, 'plan'));
  if (sync === null || plan === null) {
    throw new LeadsyncError('connection.running', `a run of ${name} is under way. Nothing was deleted`, {
      retry: 'later',
      help: 'Stop or restart the worker that still has this connection; then forget it again.',
    });
  }
  await forgetJobs(await app.queues(), name);
  const deleted = await forgetConnection(app.pool, name, stopping);
  stopping.throwIfAborted();
  return deleted;
}
