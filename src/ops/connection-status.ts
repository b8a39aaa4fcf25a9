import type { ConnectionConfig } from '../config/config.ts';
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
import { comingReminders, type LateReminders, lateReminders } from '../store/mails.ts';
import { openEdits } from '../store/requested-edits.ts';
import { lastRun, openRun } from '../store/runs.ts';
import { getSchedule, pausedSince, type Schedule } from '../store/connections.ts';
import { createThrottle } from '../store/services.ts';
import { systemClock } from '../ports/clock.ts';
import { leaseName } from '../sync/context.ts';
import type { SyncReport } from '../sync/report.ts';
import { columnsOf } from '../core/lead/mapping.ts';
import { type AlertKind, type OpenAlert, openAlerts } from '../store/alerts.ts';
import { endedSyncs, lastSuccessAt, openSyncs } from '../store/run-list.ts';
import { describeProgress } from './describe-progress.ts';

/** The state of a connection, for `leadsync status --json` and the status page. Times are ISO instants. */
export interface ConnectionStatus {
  readonly connection: string;
  readonly lastRun: SyncReport | null;
  readonly lastRunAt: string | null;
  /** The table was unchanged since it had been read in full then, and the last run did not read it; absent: it did. */
  readonly tableReadAt?: string;
  readonly running: {
    readonly runId: string;
    readonly phase: string;
    readonly holder: string | null;
    /** What its attempts fail with; null: they do not. */
    readonly fault: { readonly code: string; readonly message: string; readonly since: string } | null;
  } | null;
  /** What the operators were told of, and is not over; absent: nothing. */
  readonly alerts?: readonly { readonly kind: AlertKind; readonly title: string; readonly since: string }[];
  readonly nextRunAt: string | null;
  readonly throttledUntil: string | null;
  /** When a person paused it. */
  readonly pausedSince: string | null;
  /** The target's address for people; null before the first sync. */
  readonly place: string | null;
  /** Earlier targets, whose state is kept in case the setting returns; last left first. */
  readonly formerPlaces: readonly { readonly address: string; readonly leftAt: string }[];
  readonly held: number;
  /** Requested edits that are not carried out yet; `why`: what kept the last run from the oldest, null: none tried. */
  readonly requestedEdits: { readonly open: number; readonly why: string | null };
  /** Leads that are gone from the service and whose rows are marked, as far as there is a status column. */
  readonly deletedLeads: readonly string[];
  /** How many leads `leads.query` does not show any more, whose rows stay; absent: none. */
  readonly outsideLeads?: number;
  readonly reminders: {
    readonly coming: number;
    /** `dueDay`: of a follow-up that is a day without a time. */
    readonly next: readonly { readonly leadId: string; readonly dueAt: string; readonly dueDay?: string }[];
  };
}

const remindersShown = 5;

/** Reads the database alone: it affects no run. `openNow`: its open alerts, where they were read already. */
export async function connectionStatus(
  pool: Queryable,
  connection: ConnectionConfig,
  openNow?: readonly OpenAlert[],
): Promise<ConnectionStatus> {
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
    ...(typeof last?.tableReadAt === 'string' && { tableReadAt: last.tableReadAt }),
    running: open && {
      runId: String(open.id),
      phase: open.phase,
      holder: await leaseHolder(pool, leaseName(name, 'sync')),
      fault:
        open.attempts === 0 || open.fault === null
          ? null
          : { ...open.fault, since: new Date(open.fault.since).toISOString() },
    },
    ...(alerts.length > 0 && { alerts }),
    nextRunAt: schedule && iso(await nextRunOf(schedule)),
    throttledUntil: notBefore > Date.now() ? iso(notBefore) : null,
    pausedSince: iso(await pausedSince(pool, name)),
    place: places.find(({ leftAt }) => leftAt === null)?.address ?? null,
    formerPlaces: places.flatMap(({ address, leftAt }) => (leftAt === null ? [] : [{ address, leftAt }])),
    held: await countHeld(pool, [connection]),
    requestedEdits: { open: edits.length, why: edits[0]?.note ?? null },
    deletedLeads: await listDeleted(pool, name),
    ...(outsideLeads > 0 && { outsideLeads }),
    reminders: {
      coming: coming.count,
      next: await Promise.all(
        coming.next.map(async ({ leadId, dueAt }) => {
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

function shownAlert(alert: OpenAlert): NonNullable<ConnectionStatus['alerts']>[number] {
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

/** What the status page shows of a connection: the report of `leadsync status`, and more. */
export interface ConnectionFacts {
  readonly status: ConnectionStatus;
  /** IANA zone in which people see its dates. */
  readonly timeZone: string;
  /** Epoch ms; null: never so far. */
  readonly lastSuccessAt: number | null;
  /** The newest sync that had ended when these facts began to be read; 0: none. */
  readonly endedRun: number;
  readonly progress: string | null;
  /** Missing records whose deletion is not proven yet. */
  readonly deletesWaiting: number;
  readonly late: LateReminders;
  readonly alerts: readonly OpenAlert[];
  /** Company names by lead id, for the leads that the other facts name. */
  readonly companies: ReadonlyMap<string, string>;
  readonly columns: ReadonlyMap<string, string>;
}

export const namesShown = 50;

export async function connectionFacts(
  pool: Queryable,
  connection: ConnectionConfig,
): Promise<ConnectionFacts> {
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
    timeZone,
    lastSuccessAt: await lastSuccessAt(pool, name),
    endedRun: ended.get(name) ?? 0,
    progress: open === undefined ? null : describeProgress(open),
    deletesWaiting: await countWaitingDeletes(pool, name, deleteSides(connection)),
    late: await lateReminders(pool, name),
    alerts,
    companies: await companiesOf(pool, name, ids),
    columns: columnsOf(connection.fields),
  };
}

/** The sides on which a missing record leads to a deletion. */
export function deleteSides({ sync }: ConnectionConfig): DeleteSides {
  return { leads: sync.onLeadDeleted !== 'keep', rows: ['delete-lead', 'ask'].includes(sync.onRowDeleted) };
}
