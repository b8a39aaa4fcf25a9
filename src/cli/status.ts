import type pg from 'pg';
import type { ConnectionConfig } from '../config/config.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { counted } from '../core/lead/counted.ts';
import { shownDates, shownMoment } from '../core/lead/shown-date.ts';
import { type ConnectionStatus, connectionStatus } from '../ops/connection-status.ts';
import { type ServerOutage, serverOutages } from '../ops/server-outages.ts';
import { forMany } from '../store/for-many.ts';
import { companiesOf } from '../store/pairs.ts';
import { print, printJson } from './output.ts';
import { tellReport } from './plan-output.ts';
import { runs } from './runs.ts';
import { reminders, type RemindersOptions } from './reminders.ts';
import { withStore } from './with-store.ts';

interface StatusOptions extends RemindersOptions {
  /** True: the list of the runs. */
  readonly runs?: string | true;
  readonly limit?: string;
}

export function status({ runs: run, limit, ...options }: StatusOptions): Promise<void> {
  const { reminders: mails, cancelled, feeds, newFeed, newLinkKey } = options;
  if ((mails ?? cancelled ?? feeds ?? newFeed ?? newLinkKey) !== undefined) return reminders(options);
  if (run !== undefined) return runs(run === true ? null : run, limit ?? '20', options);
  if (limit !== undefined) throw new LeadsyncError('usage.invalid', '--limit goes with --runs');
  return withStore(options, async (pool, config) => {
    const { connections } = config;
    const outages = await serverOutages(pool, config);
    const many = forMany(pool);
    const all = await Promise.all(connections.map((connection) => connectionStatus(many, connection)));
    if (options.json) return printJson({ ...(outages.length > 0 && { outages }), connections: all });
    for (const outage of outages) print(describeOutage(outage, connections[0]?.timeZone ?? 'UTC'));
    for (const [nth, connection] of connections.entries()) {
      const one = all[nth];
      if (one !== undefined) print(await describe(pool, one, connection));
    }
  });
}

function describeOutage({ of, message, lastReachedAt }: ServerOutage, timeZone: string): string {
  const last = lastReachedAt === null ? '' : `, last reached ${shownMoment(lastReachedAt, timeZone)}`;
  return `${of}: away${last}: ${message}`;
}

async function describe(
  pool: pg.Pool,
  status: ConnectionStatus,
  connection: ConnectionConfig,
): Promise<string> {
  const { timeZone } = connection;
  const time = (at: string): string => shownMoment(at, timeZone);
  const { running, reminders } = status;
  const lines = [
    status.lastRun === null
      ? `${status.connection}: no sync so far`
      : await tellReport(pool, status.lastRun, connection),
  ];
  if (status.lastRunAt !== null) lines.push(`  at       ${time(status.lastRunAt)}`);
  if (status.place !== null) lines.push(`  keeps    ${status.place}`);
  for (const { address, leftAt } of status.formerPlaces)
    lines.push(
      `  before   ${address}, left ${time(leftAt)}; it goes on from there when the target is set back`,
    );
  if (running !== null) {
    const who =
      running.holder === null ? 'interrupted; leadsync sync goes on with it' : `by ${running.holder}`;
    lines.push(`  running  run ${running.runId}, ${running.phase}, ${who}`);
    if (running.fault !== null)
      lines.push(`  fails    since ${time(running.fault.since)}: ${running.fault.message}`);
  }
  for (const { title, since } of status.alerts ?? []) lines.push(`  alert    ${title}, since ${time(since)}`);
  lines.push(
    `  next     ${status.nextRunAt === null ? 'not scheduled (leadsync worker keeps the schedule)' : time(status.nextRunAt)}`,
  );
  if (status.pausedSince !== null)
    lines.push(`  paused   since ${time(status.pausedSince)}; leadsync resume lets it go on`);
  if (status.throttledUntil !== null)
    lines.push(
      `  waiting  until ${time(status.throttledUntil)}, as the Leads service asked; leadsync resume ends it`,
    );
  const { open, why } = status.requestedEdits;
  if (open > 0)
    lines.push(
      `  edits    ${counted(open, 'requested edit waits', 'requested edits wait')}${why === null ? '' : `: ${shownDates(why, timeZone)}`}`,
    );
  if (status.deletedLeads.length > 0) {
    const companies = await companiesOf(pool, status.connection, status.deletedLeads);
    const names = status.deletedLeads.map((id) => companies.get(id) ?? id);
    lines.push('  deleted  in the service, rows kept:', ...names.map((name) => `           ${name}`));
  }
  const { outsideLeads = 0 } = status;
  if (outsideLeads > 0)
    lines.push(
      `  outside  ${counted(outsideLeads, 'lead')} that leads.query does not show: rows kept, edits in them still arrive, no mails`,
    );
  lines.push(
    `  coming   ${counted(reminders.coming, 'reminder')}${reminders.next[0] ? `, the next for a follow-up due ${reminders.next[0].dueDay ?? time(reminders.next[0].dueAt)}` : ''}`,
  );
  return lines.join('\n');
}
