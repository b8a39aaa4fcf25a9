import type pg from 'pg';
import { lastAgreedDue } from '../queue/due-times.ts';
import {
  type AlertProblem,
  connectionFacts,
  forgetAlerts,
  noteAlertChange,
  openAlerts,
  takeAlertTurn,
} from '../store/alerts.ts';
import { transaction } from '../store/database.ts';
import { leftConnections } from '../store/retention.ts';
import { repeat } from '../lib/waiting.ts';
import { getHeartbeat, getSchedule, type Heartbeat, noteHeartbeat } from '../store/connections.ts';
import { type AlertContext, callOnce, channelsOf, deliverAlerts } from './channels.ts';
import { faultText } from '../lib/errors.ts';
import { decideAlerts, heartbeatProblems, isSuccessOverdue, problemsOf } from './problems-of.ts';

const usualMs = 60_000;

/** A scheduled sync must succeed within this time (ms). */
const scheduleGraceMs = 2 * 3_600_000;

/** After this long a connection that left the configuration has no problems any more. */
const leftHours = 24;

/** Ms for which alerts that are over are kept. */
const keptMs = 90 * 24 * 3_600_000;

/** A timer, not a job: the alert that the queue is away must not wait for the queue. Every worker checks: the connections of a dead worker are seen by another. */
export function watchAlerts(context: AlertContext, everyMs = usualMs): AsyncDisposable {
  // The pause comes first: a worker that has just started catches up on a missed night. An alert whose delivery is cut off is
  // sent once more.
  return repeat(everyMs, async (stop) => {
    await checkAlerts(context, stop).catch((error: unknown) => {
      if (!stop.aborted) context.log.warn({ err: error }, 'the check for alerts failed; it runs again');
    });
  });
}

/** Several workers may do this at once: one of them decides, and each delivery is claimed by one. Throws faults of the database. */
export async function checkAlerts(context: AlertContext, signal: AbortSignal): Promise<void> {
  const watched = await transaction(context.pool, (db) => decide(context, db));
  await Promise.all([
    deliverAlerts(context, signal),
    watched === null ? null : callHeartbeats(context, watched, signal),
  ]);
}

/** Null: another worker decides. */
async function decide(
  context: AlertContext,
  db: pg.PoolClient,
): Promise<readonly WatchedConnection[] | null> {
  if (!(await takeAlertTurn(db))) return null;
  const { alerts, clock } = context;
  const now = clock.now();
  const heartbeat = heartbeatKind(alerts);
  const watched: WatchedConnection[] = [];
  for (const { name, sync } of context.connections) {
    const facts = await connectionFacts(db, name, now);
    const successDueSince = await lastDueBefore(db, name, sync, now - scheduleGraceMs);
    const { lastSuccess } = facts;
    const lastRun = lastSuccess === null || lastSuccess.at < successDueSince ? 0 : lastSuccess.runId;
    watched.push({ name, isOverdue: isSuccessOverdue(facts, successDueSince), lastRun });
    const silent = heartbeat === 'each' ? heartbeatProblems(await getHeartbeat(db, name), now) : [];
    await note(context, db, name, [...problemsOf(facts, successDueSince), ...silent], now);
  }
  const shared = heartbeat === 'shared' ? heartbeatProblems(await getHeartbeat(db, sharedUnit), now) : [];
  await note(context, db, sharedUnit, shared, now);
  // Problems of a connection that left the configuration would stay open for good.
  for (const name of await leftConnections(db, context.configured, leftHours))
    await note(context, db, name, [], now);
  await forgetAlerts(db, now, keptMs);
  return watched;
}

/** 0: never. */
async function lastDueBefore(
  db: pg.PoolClient,
  connection: string,
  { schedule: pattern, timeZone }: AlertContext['connections'][number]['sync'],
  at: number,
): Promise<number> {
  return lastAgreedDue(await getSchedule(db, connection), { pattern, timeZone }, at) ?? 0;
}

async function note(
  { alerts, log }: AlertContext,
  db: pg.PoolClient,
  connection: string,
  problems: readonly AlertProblem[],
  now: number,
): Promise<void> {
  const open = await openAlerts(db, connection);
  for (const change of decideAlerts(open, problems, now)) {
    await noteAlertChange(db, connection, change, channelsOf(alerts), now);
    const problem = 'problem' in change ? change.problem.kind : open.find(({ id }) => id === change.id)?.kind;
    if (change.event === 'over') log.info({ connection, problem }, 'a problem is over');
    else if ('problem' in change) log.error({ connection, problem }, 'a problem goes to the operators');
  }
}

/** The placeholder for the connection's name in the address, when each connection has a heartbeat of its own. */
const connectionPlace = '{connection}';

const sharedUnit = '';

interface WatchedConnection {
  readonly name: string;
  /** No sync has succeeded for too long. */
  readonly isOverdue: boolean;
  /** The last run that succeeded in time; 0: none. An earlier success is no sign of life. */
  readonly lastRun: number;
}

/** A failed call is retried after as long as it has been failing, and at most after this time (ms). */
const longestWaitMs = 3_600_000;

function heartbeatKind({ heartbeat }: AlertContext['alerts']): 'each' | 'shared' | 'none' {
  if (heartbeat === undefined) return 'none';
  return heartbeat.reveal().includes(connectionPlace) ? 'each' : 'shared';
}

/**
 * Once for each success. The shared one is called only while no connection has an overdue success: its silence is the alarm. Throws faults of
 * the database alone.
 */
async function callHeartbeats(
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
