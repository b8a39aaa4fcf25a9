import type { App } from '../app.ts';
import type { JobHandle, JobResult } from '../queue/work.ts';

/** Ms after which a job comes back for a worker that knows its connection. */
const backMs = 5_000;

/** Ms for which a connection that our settings do not name may be a newer worker's. */
const strangeMs = 600_000;

/**
 * What becomes of a job whose connection this process does not work for (`--connection`, or other settings); null: it does.
 * One of a connection that left the configuration is `done`.
 */
export function leftToOthers<Summary>(
  { contexts, config, log }: Pick<App, 'contexts' | 'config' | 'log'>,
  connection: string,
  { requestedAt }: JobHandle,
  done: Summary,
): JobResult<Summary> | null {
  if (contexts.has(connection)) return null;
  const isConfigured = config.configured.some(({ name }) => name === connection);
  if (isConfigured || Date.now() - requestedAt < strangeMs) return { againAfterMs: backMs };
  log.info({ connection }, 'a job of a connection that left the configuration was dropped');
  return { done };
}
