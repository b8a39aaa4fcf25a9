import type { ConnectionConfig } from '../config/config.ts';
import { type ListedAlert, listAlerts } from '../store/alerts.ts';
import { type LateReminders, lateReminders } from '../store/reminders.ts';
import { companiesOf } from '../store/companies.ts';
import { lastSuccessAt, openSyncs } from '../store/run-list.ts';
import { countWaitingDeletes, type DeleteSides } from '../store/waiting-deletes.ts';
import type { SyncContext } from '../sync/context.ts';
import { type ConnectionStatus, connectionStatus } from './connection-status.ts';
import { describeProgress } from './describe-progress.ts';

/** What the status page tells of a connection besides what `leadsync status` does. */
export interface ConnectionFacts {
  readonly status: ConnectionStatus;
  /** IANA zone in which its times are shown. */
  readonly timeZone: string;
  /** Epoch ms; null: never so far. */
  readonly lastSuccessAt: number | null;
  /** How far the run is that is under way. */
  readonly progress: string | null;
  /** Records that may be deleted, which is not proven yet. */
  readonly deletesWaiting: number;
  readonly late: LateReminders;
  readonly alerts: readonly ListedAlert[];
  /** What the companies of the leads are called that are named by the others, by the lead's id. */
  readonly companies: ReadonlyMap<string, string>;
}

/** So many problems, and deleted leads, of a connection are shown at most. */
export const namesShown = 50;

export async function connectionFacts({ pool, connection }: SyncContext): Promise<ConnectionFacts> {
  const { name, sync } = connection;
  const [open] = await openSyncs(pool, [name]);
  const status = await connectionStatus(pool, connection);
  const problems = status.lastRun?.problems.slice(0, namesShown) ?? [];
  const ids = [...problems.map(({ leadId = '' }) => leadId), ...status.deletedLeads.slice(0, namesShown)];
  return {
    status,
    timeZone: sync.timeZone,
    lastSuccessAt: await lastSuccessAt(pool, name),
    progress: open === undefined ? null : describeProgress(open),
    deletesWaiting: await countWaitingDeletes(pool, name, deleteSides(connection)),
    late: await lateReminders(pool, name),
    alerts: await listAlerts(pool, name),
    companies: await companiesOf(pool, name, ids),
  };
}

/** Where a record that is missing may be on its way to be deleted. */
export function deleteSides({ sync }: ConnectionConfig): DeleteSides {
  return { leads: sync.onLeadDeleted !== 'keep', rows: sync.onRowDeleted === 'delete-lead' };
}
