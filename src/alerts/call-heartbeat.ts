import { getHeartbeat, type Heartbeat, noteHeartbeat } from '../store/connections.ts';
import { type AlertContext, callOnce, faultText } from './channels.ts';

/** The placeholder for the connection's name in the address, when each connection has a heartbeat of its own. */
const connectionPlace = '{connection}';

/** The heartbeat of all connections together. */
export const sharedUnit = '';

/** A connection as its last check saw it. */
export interface WatchedConnection {
  readonly name: string;
  /** No sync has succeeded for too long. */
  readonly isOverdue: boolean;
  /** The last run that succeeded in time; 0: none. An earlier success is no sign of life. */
  readonly lastRun: number;
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
  const alive = watched.filter(({ isOverdue }) => !isOverdue);
  if (kind === 'each')
    await Promise.all(alive.map(({ name, lastRun }) => callFor(context, name, lastRun, signal)));
  else if (alive.length === watched.length)
    await callFor(context, sharedUnit, Math.max(0, ...alive.map(({ lastRun }) => lastRun)), signal);
}

async function callFor(
  context: AlertContext,
  unit: string,
  runId: number,
  signal: AbortSignal,
): Promise<void> {
  const { alerts, pool, log, clock } = context;
  if (alerts.heartbeat === undefined || runId === 0) return;
  if (!isDue(await getHeartbeat(pool, unit), runId, clock.now())) return;
  const url = alerts.heartbeat.reveal().replaceAll(connectionPlace, unit);
  const fault = await callOnce(context, url, signal).then(() => null, faultText);
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
