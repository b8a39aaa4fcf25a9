import type { ConnectionFacts } from '../store/alert-facts.ts';
import { getPulse, notePulse, type Pulse } from '../store/pulses.ts';
import type { AlertContext } from './alert-context.ts';
import { callAddress } from './call-address.ts';
import { isSuccessOverdue } from './problems-of.ts';

/** What stands in an address for the connection's name, when each has a heartbeat of its own. */
const connectionPlace = '{connection}';

/** The heartbeat of all connections together. */
export const sharedUnit = '';

export interface WatchedConnection {
  readonly name: string;
  readonly facts: ConnectionFacts;
  /** Epoch ms since when a sync has to have succeeded. */
  readonly successDueSince: number;
}

/** A try after a failed one waits as long as it has been failing, and at most so long (ms). */
const mostWaitMs = 3_600_000;

/** Whether each connection has a heartbeat of its own, all have one, or there is none. */
export function heartbeatKind({ heartbeat }: AlertContext['alerts']): 'each' | 'shared' | 'none' {
  if (heartbeat === undefined) return 'none';
  return heartbeat.reveal().includes(connectionPlace) ? 'each' : 'shared';
}

/**
 * Calls the heartbeat for each success of which it was not told so far. That of all connections is called only while none
 * waits for a success too long: the silence is the alarm. What fails is tried again by a later look. Throws faults of the
 * database alone.
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

/** The run that succeeded last; null: none in time. One of before is no sign of life now. */
function newestSuccess(watched: readonly WatchedConnection[]): number | null {
  const runs = watched.flatMap(({ facts: { lastSuccess }, successDueSince }) =>
    lastSuccess === null || lastSuccess.at < successDueSince ? [] : [lastSuccess.runId],
  );
  return runs.length === 0 ? null : Math.max(...runs);
}

async function callFor(
  { alerts, pool, log, clock, callMs }: AlertContext,
  unit: string,
  runId: number | null,
  signal: AbortSignal,
): Promise<void> {
  const pulse = await getPulse(pool, unit);
  if (alerts.heartbeat === undefined || runId === null || !isDue(pulse, runId, clock.now())) return;
  const url = alerts.heartbeat.reveal().replaceAll(connectionPlace, unit);
  const timeoutMs = callMs === undefined ? {} : { timeoutMs: callMs };
  const fault = await callAddress({ url, clock, signal, ...timeoutMs }).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  if (signal.aborted) return;
  if (fault !== null)
    log.warn({ connection: unit, fault }, 'the heartbeat could not be called; it is tried again');
  await notePulse(pool, unit, runId, clock.now(), fault);
}

function isDue(pulse: Pulse | null, runId: number, now: number): boolean {
  if (pulse === null) return true;
  const { attemptedAt, failingSince } = pulse;
  if (failingSince === null) return pulse.runId !== runId;
  return now - attemptedAt >= Math.min(mostWaitMs, attemptedAt - failingSince);
}
