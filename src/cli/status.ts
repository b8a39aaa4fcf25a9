import type { App } from '../app.ts';
import { countHeld } from '../store/held.ts';
import { leaseHolder } from '../store/leases.ts';
import { listDeleted } from '../store/pairs.ts';
import { comingReminders } from '../store/reminders.ts';
import { lastRun, openRun } from '../store/runs.ts';
import { createThrottle } from '../store/throttles.ts';
import type { SyncContext } from '../sync/context.ts';
import type { SyncReport } from '../sync/report.ts';
import { schedulerName } from './fill-queues.ts';
import type { CommonOptions } from './main.ts';
import { print, printJson } from './output.ts';
import { queueName } from './run-job.ts';
import { describeReport } from './sync.ts';
import { withApp } from './with-app.ts';

interface ConnectionStatus {
  readonly connection: string;
  readonly lastRun: SyncReport | null;
  readonly lastRunAt: string | null;
  readonly running: { readonly runId: string; readonly phase: string; readonly holder: string | null } | null;
  readonly nextRunAt: string | null;
  readonly throttledUntil: string | null;
  readonly held: number;
  /** Leads that are gone from the service and whose rows were marked, or would be if there were a status column. */
  readonly deletedLeads: readonly string[];
  readonly reminders: {
    readonly coming: number;
    readonly next: readonly { readonly leadId: string; readonly dueAt: string }[];
  };
}

/** `leadsync status`: last and next runs, throttling, held items, coming reminders. */
export function status(options: CommonOptions): Promise<void> {
  return withApp(options, async (app) => {
    const all = await Promise.all(
      [...app.contexts.values()].map((context) => connectionStatus(app, context)),
    );
    if (options.json) return printJson({ connections: all });
    for (const one of all) print(describe(one));
  });
}

const remindersShown = 5;

async function connectionStatus(app: App, { connection, pool }: SyncContext): Promise<ConnectionStatus> {
  const { name, leads } = connection;
  const last = await lastRun(pool, name, 'sync');
  const open = await openRun(pool, name, 'sync');
  const notBefore = await createThrottle(pool, leads.baseUrl, leads.apiKey.reveal()).notBefore();
  const coming = await comingReminders(pool, name, remindersShown);
  return {
    connection: name,
    lastRun: last === null ? null : (last.report as SyncReport),
    lastRunAt: iso(last?.finishedAt),
    running: open && {
      runId: String(open.id),
      phase: open.phase,
      holder: await leaseHolder(pool, `${name}/sync`),
    },
    nextRunAt: iso(await app.queues.queue(queueName(name)).nextRun(schedulerName)),
    throttledUntil: notBefore > Date.now() ? iso(notBefore) : null,
    held: await countHeld(pool, name),
    deletedLeads: await listDeleted(pool, name),
    reminders: {
      coming: coming.count,
      next: coming.next.map(({ leadId, dueAt }) => ({ leadId, dueAt: new Date(dueAt).toISOString() })),
    },
  };
}

function iso(epochMs: number | null | undefined): string | null {
  return typeof epochMs === 'number' ? new Date(epochMs).toISOString() : null;
}

function describe(status: ConnectionStatus): string {
  const { running, reminders } = status;
  const lines = [
    status.lastRun === null ? `${status.connection}: no sync so far` : describeReport(status.lastRun),
  ];
  if (status.lastRunAt !== null) lines.push(`  at       ${status.lastRunAt}`);
  if (running !== null) {
    const who =
      running.holder === null ? 'interrupted; leadsync sync goes on with it' : `by ${running.holder}`;
    lines.push(`  running  run ${running.runId}, ${running.phase}, ${who}`);
  }
  lines.push(`  next     ${status.nextRunAt ?? 'not scheduled (leadsync worker keeps the schedule)'}`);
  if (status.throttledUntil !== null)
    lines.push(`  waiting  until ${status.throttledUntil}, as the service asked`);
  if (status.deletedLeads.length > 0)
    lines.push(`  deleted  in the service, rows kept: ${status.deletedLeads.join(', ')}`);
  lines.push(
    `  coming   ${reminders.coming} reminders${reminders.next[0] ? `, the next at ${reminders.next[0].dueAt}` : ''}`,
  );
  return lines.join('\n');
}
