import type { ConnectionConfig, Config } from '../config/config.ts';
import { describeAlert } from '../alerts/describe-alert.ts';
import { countHeld } from '../store/held.ts';
import { leaseHolder } from '../store/leases.ts';
import {
  companiesOf,
  countOutside,
  countWaitingDeletes,
  type DeleteSides,
  listDeleted,
} from '../store/pairs.ts';
import type { Queryable } from '../store/database.ts';
import { listPlaces } from '../store/places.ts';
import { comingReminders, lateReminders } from '../store/mails.ts';
import { openEdits } from '../store/requested-edits.ts';
import { lastRun, openRun } from '../store/runs.ts';
import { getSchedule, pausedSince, type Schedule } from '../store/connections.ts';
import { createThrottle } from '../store/services.ts';
import { systemClock } from '../ports/clock.ts';
import { leaseName } from '../sync/context.ts';
import type { SyncReport } from '../sync/report.ts';
import { columnsOf } from '../core/lead/mapping.ts';
import { type OpenAlert, openAlerts } from '../store/alerts.ts';
import { endedSyncs, lastSuccessAt, openSyncs } from '../store/run-list.ts';
import { describeProgress } from './run-words.ts';
import type pg from 'pg';
import { redisAddressOf } from '../config/redis-address.ts';
import { asOutage } from '../postgres/database-outage.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { claimedAt, lastWriteAt, probeWrite } from '../store/keeper.ts';

const remindersShown = 5;

export type ConnectionStatus = Awaited<ReturnType<typeof connectionStatus>>;

/**
 * The state of a connection, for `leadsync status --json` (docs/architecture.md 8) and the status page. Times are ISO instants. Reads the
 * database alone: it affects no run. `openNow`: its open alerts, where they were read already.
 */
export async function connectionStatus(
  pool: Queryable,
  connection: ConnectionConfig,
  openNow?: readonly OpenAlert[],
) {
  const { name, leads, reminders, timeZone } = connection;
  const last = await lastRun(pool, name, 'sync');
  const open = await openRun(pool, name, 'sync');
  const throttle = createThrottle(pool, leads.baseUrl, leads.apiKey.reveal(), systemClock);
  const { notBefore } = await throttle.look();
  const schedule = await getSchedule(pool, name);
  const places = await listPlaces(pool, name);
  const edits = await openEdits(pool, name);
  const outsideLeads = await countOutside(pool, name);
  const alerts = (openNow ?? (await alertsNow(pool, name))).map(shownAlert);
  const coming = await comingReminders(pool, name, remindersShown);
  return {
    connection: name,
    lastRun: last === null ? null : (last.report as SyncReport),
    lastRunAt: iso(last?.finishedAt),
    /** The table was unchanged since it had been read in full then, and the last run did not read it; absent: it did. */
    ...(typeof last?.tableReadAt === 'string' && { tableReadAt: last.tableReadAt }),
    running: open && {
      runId: String(open.id),
      phase: open.phase,
      holder: await leaseHolder(pool, leaseName(name, 'sync')),
      /** What its attempts fail with; null: they do not. */
      fault:
        open.attempts === 0 || open.fault === null
          ? null
          : { ...open.fault, since: new Date(open.fault.since).toISOString() },
    },
    /** What the operators were told of, and is not over; absent: nothing. */
    ...(alerts.length > 0 && { alerts }),
    nextRunAt: schedule && iso(await nextRunOf(schedule)),
    throttledUntil: notBefore > Date.now() ? iso(notBefore) : null,
    pausedSince: iso(await pausedSince(pool, name)),
    /** The target's address for people; null before the first sync. */
    place: places.find(({ leftAt }) => leftAt === null)?.address ?? null,
    /** Earlier targets, whose state is kept in case the setting returns; last left first. */
    formerPlaces: places.flatMap(({ address, leftAt }) => (leftAt === null ? [] : [{ address, leftAt }])),
    held: await countHeld(pool, [connection]),
    /** Not carried out yet; `why`: what kept the last run from the oldest, null: none tried. */
    requestedEdits: { open: edits.length, why: edits[0]?.note ?? null },
    /** Gone from the service; their rows are marked, as far as there is a status column. */
    deletedLeads: await listDeleted(pool, name),
    /** How many leads `leads.query` does not show any more, whose rows stay; absent: none. */
    ...(outsideLeads > 0 && { outsideLeads }),
    reminders: {
      coming: coming.count,
      next: await Promise.all(
        coming.next.map(async ({ leadId, dueAt }) => {
          // Of a follow-up that is a day without a time.
          const dueDay = reminders === undefined ? null : await dayOf(dueAt, timeZone);
          return { leadId, dueAt: new Date(dueAt).toISOString(), ...(dueDay !== null && { dueDay }) };
        }),
      ),
    },
  };
}

async function alertsNow(pool: Queryable, connection: string): Promise<readonly OpenAlert[]> {
  return (await openAlerts(pool, connection)).filter(({ clearedAt }) => clearedAt === null);
}

function shownAlert(alert: OpenAlert) {
  const { title } = describeAlert({ ...alert, connection: '', event: 'raised' });
  return { kind: alert.kind, title, since: new Date(alert.raisedAt).toISOString() };
}

function iso(epochMs: number | null | undefined): string | null {
  return typeof epochMs === 'number' ? new Date(epochMs).toISOString() : null;
}

/** The code for time zones is loaded only with reminders. */
async function dayOf(dueAt: number, timeZone: string): Promise<string | null> {
  const day = await import('../core/lead/instant.ts');
  return day.dayOf(dueAt, timeZone);
}

/** The calendar code is loaded only when no worker has gone on with the schedule since it was due. */
async function nextRunOf({ pattern, timeZone, nextRunAt }: Schedule): Promise<number> {
  if (nextRunAt > Date.now()) return nextRunAt;
  const { nextRun } = await import('../queue/due-times.ts');
  return nextRun(pattern, timeZone, Date.now());
}

export const namesShown = 50;

export type ConnectionFacts = Awaited<ReturnType<typeof connectionFacts>>;

/** What the status page shows of a connection: the report of `leadsync status`, and more. */
export async function connectionFacts(pool: Queryable, connection: ConnectionConfig) {
  const { name, timeZone } = connection;
  // First: what ends meanwhile the page is told of (live.js).
  const ended = await endedSyncs(pool, [name]);
  const alerts = await alertsNow(pool, name);
  const status = await connectionStatus(pool, connection, alerts);
  const [open] = status.running === null ? [] : await openSyncs(pool, [name]);
  const problems = status.lastRun?.problems.slice(0, namesShown) ?? [];
  const ids = [...problems.map(({ leadId = '' }) => leadId), ...status.deletedLeads.slice(0, namesShown)];
  return {
    status,
    /** IANA zone in which people see its dates. */
    timeZone,
    /** Epoch ms; null: never so far. */
    lastSuccessAt: await lastSuccessAt(pool, name),
    /** The newest sync that had ended when these facts began to be read; 0: none. */
    endedRun: ended.get(name) ?? 0,
    progress: open === undefined ? null : describeProgress(open),
    /** Missing records whose deletion is not proven yet. */
    deletesWaiting: await countWaitingDeletes(pool, name, deleteSides(connection)),
    late: await lateReminders(pool, name),
    alerts,
    /** Company names by lead id, for the leads that the other facts name. */
    companies: await companiesOf(pool, name, ids),
    columns: columnsOf(connection.fields),
  };
}

/** The sides on which a missing record leads to a deletion. */
export function deleteSides({ sync }: ConnectionConfig): DeleteSides {
  return { leads: sync.onLeadDeleted !== 'keep', rows: ['delete-lead', 'ask'].includes(sync.onRowDeleted) };
}

/** A server without which nothing goes on. */
export interface ServerOutage {
  readonly of: 'database' | 'queue';
  readonly code: string;
  readonly message: string;
  /** ISO instant of the last write to the database, or when a worker last reached the queue; null: not known. */
  readonly lastReachedAt: string | null;
}

/** The servers that take no writes now. Throws when the database does not even answer. */
export async function serverOutages(pool: pg.Pool, config: Config): Promise<readonly ServerOutage[]> {
  const found = [
    { of: 'database', fault: await databaseFault(pool), lastAt: () => lastWriteAt(pool) },
    { of: 'queue', fault: await queueFault(config), lastAt: () => claimedAt(pool) },
  ] as const;
  const outages: ServerOutage[] = [];
  for (const { of, fault, lastAt } of found) {
    if (fault === null) continue;
    const at = await lastAt();
    const { code, message } = fault;
    outages.push({ of, code, message, lastReachedAt: at === null ? null : new Date(at).toISOString() });
  }
  return outages;
}

async function databaseFault(pool: pg.Pool): Promise<LeadsyncError | null> {
  try {
    await probeWrite(pool);
    return null;
  } catch (thrown) {
    const fault = asOutage(thrown);
    if (fault instanceof LeadsyncError) return fault;
    throw fault;
  }
}

/** Null also when the jobs are in the database. */
async function queueFault({ redisUrl }: Config): Promise<LeadsyncError | null> {
  if (redisUrl === undefined) return null;
  const { redisOutage } = await import('../queue/redis-client.ts');
  return redisOutage(redisAddressOf(redisUrl));
}
