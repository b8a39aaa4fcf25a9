import type pg from 'pg';
import { previousRun } from '../queue/run-times.ts';
import { connectionFacts } from '../store/alert-facts.ts';
import {
  type AlertProblem,
  forgetAlerts,
  noteAlertChange,
  openAlerts,
  takeAlertTurn,
} from '../store/alerts.ts';
import { transaction } from '../store/database.ts';
import { leftConnections } from '../store/forget.ts';
import { getPulse } from '../store/pulses.ts';
import type { AlertContext } from './alert-context.ts';
import { callHeartbeats, heartbeatKind, sharedUnit, type WatchedConnection } from './call-heartbeat.ts';
import { channelsOf } from './channels.ts';
import { decideAlerts } from './decide-alerts.ts';
import { problemsOf, pulseProblems } from './problems-of.ts';
import { tellAlerts } from './tell-alerts.ts';

/** A scheduled sync may take so long (ms) before its success is missed. */
const scheduleGraceMs = 2 * 3_600_000;

/** A connection that nobody has configured for so long has no problems any more. */
const leftHours = 24;

/** What is over is kept for so long, ms. */
const keptMs = 90 * 24 * 3_600_000;

/**
 * Looks at every connection once, writes down what is new or over together with whom it is owed to, then tells it and calls
 * the heartbeats. Any number of workers may do this at once: one of them decides, and each telling is claimed by one.
 * Throws faults of the database.
 */
export async function checkAlerts(context: AlertContext, signal: AbortSignal): Promise<void> {
  const watched = await transaction(context.pool, (db) => decide(context, db));
  await Promise.all([
    tellAlerts(context, signal),
    watched === null ? null : callHeartbeats(context, watched, signal),
  ]);
}

/** Null: another worker is at it. */
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
    const successDueSince =
      alerts.noSuccessForMs === undefined
        ? previousRun(sync.schedule, sync.timeZone, now - scheduleGraceMs)
        : now - alerts.noSuccessForMs;
    watched.push({ name, facts, successDueSince });
    const pulse = heartbeat === 'each' ? pulseProblems(await getPulse(db, name), now) : [];
    await note(context, db, name, [...problemsOf(facts, successDueSince), ...pulse], now);
  }
  const shared = heartbeat === 'shared' ? pulseProblems(await getPulse(db, sharedUnit), now) : [];
  await note(context, db, sharedUnit, shared, now);
  // What nobody looks at any more would be there for good.
  for (const name of await leftConnections(db, context.configured, leftHours))
    await note(context, db, name, [], now);
  await forgetAlerts(db, now, keptMs);
  return watched;
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
    const kind = 'problem' in change ? change.problem.kind : open.find(({ id }) => id === change.id)?.kind;
    if (change.event === 'over') log.info({ connection, problem: kind }, 'a problem is over');
    else if ('problem' in change)
      log.error({ connection, problem: kind }, 'a problem is told to the operators');
  }
}
