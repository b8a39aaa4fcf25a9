import type { ConnectionConfig } from '../config/config.ts';
import { columnsOf } from '../core/lead/mapping.ts';
import { type OpenAlert, openAlerts } from '../store/alerts.ts';
import { type LateReminders, lateReminders } from '../store/mails.ts';
import type { Queryable } from '../store/database.ts';
import { companiesOf } from '../store/pairs.ts';
import { lastSuccessAt, openSyncs } from '../store/run-list.ts';
import { countWaitingDeletes, type DeleteSides } from '../store/waiting-deletes.ts';
import { type ConnectionStatus, connectionStatus } from './connection-status.ts';
import { describeProgress } from './describe-progress.ts';

/** What the status page shows of a connection: the report of `leadsync status`, and more. */
export interface ConnectionFacts {
  readonly status: ConnectionStatus;
  /** IANA zone in which people see its dates. */
  readonly timeZone: string;
  /** Epoch ms; null: never so far. */
  readonly lastSuccessAt: number | null;
  /** Progress of the run under way. */
  readonly progress: string | null;
  /** Missing records whose deletion is not proven yet. */
  readonly deletesWaiting: number;
  readonly late: LateReminders;
  /** The problems that are there now. */
  readonly alerts: readonly OpenAlert[];
  /** Company names by lead id, for the leads that the other facts name. */
  readonly companies: ReadonlyMap<string, string>;
  /** Headings by field. */
  readonly columns: ReadonlyMap<string, string>;
}

/** The most problems, and deleted leads, that a connection's page shows. */
export const namesShown = 50;

export async function connectionFacts(
  pool: Queryable,
  connection: ConnectionConfig,
): Promise<ConnectionFacts> {
  const { name, timeZone } = connection;
  const status = await connectionStatus(pool, connection);
  const [open] = status.running === null ? [] : await openSyncs(pool, [name]);
  const problems = status.lastRun?.problems.slice(0, namesShown) ?? [];
  const ids = [...problems.map(({ leadId = '' }) => leadId), ...status.deletedLeads.slice(0, namesShown)];
  return {
    status,
    timeZone,
    lastSuccessAt: await lastSuccessAt(pool, name),
    progress: open === undefined ? null : describeProgress(open),
    deletesWaiting: await countWaitingDeletes(pool, name, deleteSides(connection)),
    late: await lateReminders(pool, name),
    alerts: (await openAlerts(pool, name)).filter(({ clearedAt }) => clearedAt === null),
    companies: await companiesOf(pool, name, ids),
    columns: columnsOf(connection.fields),
  };
}

/** The sides on which a missing record leads to a deletion. */
export function deleteSides({ sync }: ConnectionConfig): DeleteSides {
  return { leads: sync.onLeadDeleted !== 'keep', rows: sync.onRowDeleted === 'delete-lead' };
}
