import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../app.ts';
import { explain, LeadsyncError } from '../errors.ts';
import { assertKnownSchema } from '../store/migrate.ts';

/** Ms between two checks. */
const checkEveryMs = 5_000;

/**
 * Checks every few seconds whether a newer version has set up the database, until it is disposed. When one has, this process
 * is `outdated`, and `stopWork` puts the jobs under way back.
 */
export function watchSchema(app: App, stopWork: () => Promise<void>): AsyncDisposable {
  const stop = new AbortController();
  const { signal } = stop;
  const watch = async (): Promise<void> => {
    while (app.outdated === null && (await sleep(checkEveryMs, true, { signal }).catch(() => false))) {
      try {
        await assertKnownSchema(app.pool);
      } catch (error) {
        // Any other fault is an outage: the next check tries again.
        if (error instanceof LeadsyncError && error.code === 'database.newer-schema') app.outdated = error;
      }
    }
    if (app.outdated === null || signal.aborted) return;
    const { code } = app.outdated;
    app.log.error({ code }, `this worker stops taking work. ${explain(app.outdated)}`);
    await stopWork();
    app.log.warn(
      { code },
      'this worker takes no work any more; what was under way went back with its checkpoint',
    );
  };
  const watching = watch();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await watching;
    },
  };
}
