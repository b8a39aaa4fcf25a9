import type { ConnectionFacts } from '../store/alert-facts.ts';
import { getHeartbeat, type Heartbeat, noteHeartbeat } from '../store/heartbeats.ts';
import type { AlertContext } from './alert-context.ts';
import { callAddress } from './channels.ts';
import { isSuccessOverdue } from './problems-of.ts';

/** The placeholder for the connection's name in the address, when each connection has a heartbeat of its own. */
const connectionPlace = '{connection}';

/** The heartbeat of all connections together. */
export const sharedUnit = '';

export interface WatchedConnection {
  readonly name: string;
  readonly facts: ConnectionFacts;
  /** Epoch ms since when a sync has to have succeeded. */
  readonly successDueSince: number;
}

/** A failed call is retried after as long as it has been failing, and at most after this time (ms). */
const longestWaitMs = 3_600_000;

/** Whether each connection has a heartbeat of its own, all have one, or there is none. */
export function heartbeatKind({ heartbeat }: AlertContext['alerts']): 'each' | 'shared' | 'none' {
  if (heartbeat === undefined) return 'none';
  return heartbeat.reveal().includes(connectionPlace) ? 'each' : 'shared';
}

/**
 * Calls the heartbeat once for each success. The shared one is called only while no connection has an overdue success: its
 * silence is the alarm. A later check retries what failed. Throws faults of the database alone.
 */
export async function callHeartbeats(
  context: AlertContext,
  watched: readonly WatchedConnection[],
  signal: AbortSignal,
): Promise<void> {
  const kind = heartbeatKind(context.alerts);
  if (kind === 'none') return;
  const alive = watched.filter(({ facts, successDueSince }) => !isSuccessOverdue(facts, successDueSince));
  if (kind === 'shared') {
    if (alive.length === watched.length) await callFor(context, sharedUnit, newestSuccess(alive), signal);
    return;
  }
  await Promise.all(alive.map((one) => callFor(context, one.name, newestSuccess([one]), signal)));
}

/** The last run that succeeded in time; null: none. An earlier success is no sign of life. */
function newestSuccess(watched: readonly WatchedConnection[]): number | null {
  const runs = watched.flatMap(({ facts: { lastSuccess }, successDueSince }) =>
    lastSuccess === null || lastSuccess.at < successDueSince ? [] : [lastSuccess.runId],
  );
  return runs.length === 0 ? null : Math.max(...runs);
}

async function callFor(
  context: AlertContext,
  unit: string,
  runId: number | null,
  signal: AbortSignal,
): Promise<void> {
  const { alerts, pool, log, clock } = context;
  const last = await getHeartbeat(pool, unit);
  if (alerts.heartbeat === undefined || runId === null || !isDue(last, runId, clock.now())) return;
  const url = alerts.heartbeat.reveal().replaceAll(connectionPlace, unit);
  const fault = await callAddress(context, url, signal).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  if (signal.aborted) return;
  if (fault !== null)
    log.warn({ connection: unit, fault }, 'the heartbeat call failed; leadsync tries again');
  await noteHeartbeat(pool, unit, runId, clock.now(), fault);
}

function isDue(last: Heartbeat | null, runId: number, now: number): boolean {
  if (last === null) return true;
  const { attemptedAt, failingSince } = last;
  if (failingSince === null) return last.runId !== runId;
  return now - attemptedAt >= Math.min(longestWaitMs, attemptedAt - failingSince);
}
