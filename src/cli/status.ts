import type pg from 'pg';
import type { ConnectionConfig } from '../config/config.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { counted } from '../core/lead/wording.ts';
import { shownDates, shownMoment } from '../core/lead/shown-date.ts';
import { type ConnectionStatus, connectionStatus } from '../ops/connection-status.ts';
import { type ServerOutage, serverOutages } from '../ops/server-outages.ts';
import { forMany } from '../store/for-many.ts';
import { companiesOf } from '../store/pairs.ts';
import { print, printJson } from './output.ts';
import { tellReport } from './plan-output.ts';
import { runs } from './runs.ts';
import type { RemindersOptions } from './reminders.ts';
import { withStore } from './with-store.ts';

interface StatusOptions extends RemindersOptions {
  /** True: the list of the runs. */
  readonly runs?: string | true;
  readonly limit?: string;
}

export async function status({ runs: run, limit, ...options }: StatusOptions): Promise<void> {
  const { reminders: mails, cancelled, feeds, newFeed, newLinkKey } = options;
  if ((mails ?? cancelled ?? feeds ?? newFeed ?? newLinkKey) !== undefined) {
    // Loaded here alone: it has what composes and sends mails.
    const { reminders } = await import('./reminders.ts');
    return reminders(options);
  }
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
  const { lastRun, running, deletedLeads, outsideLeads = 0 } = status;
  const { open, why } = status.requestedEdits;
  const [{ dueDay, dueAt } = { dueDay: null, dueAt: null }] = status.reminders.next;
  const due = dueDay ?? (dueAt && time(dueAt));
  const companies = await companiesOf(pool, status.connection, deletedLeads);
  const who =
    typeof running?.holder !== 'string'
      ? 'interrupted; leadsync sync goes on with it'
      : `by ${running.holder}`;
  const lines = [
    lastRun === null ? `${status.connection}: no sync so far` : await tellReport(pool, lastRun, connection),
    status.lastRunAt && `  at       ${time(status.lastRunAt)}`,
    status.tableReadAt && `  table    unchanged since it was read in full, ${time(status.tableReadAt)}`,
    status.place && `  keeps    ${status.place}`,
    ...status.formerPlaces.map(
      ({ address, leftAt }) =>
        `  before   ${address}, left ${time(leftAt)}; it goes on from there when the target is set back`,
    ),
    running && `  running  run ${running.runId}, ${running.phase}, ${who}`,
    running?.fault && `  fails    since ${time(running.fault.since)}: ${running.fault.message}`,
    ...(status.alerts ?? []).map(({ title, since }) => `  alert    ${title}, since ${time(since)}`),
    `  next     ${status.nextRunAt === null ? 'not scheduled (leadsync worker keeps the schedule)' : time(status.nextRunAt)}`,
    status.pausedSince && `  paused   since ${time(status.pausedSince)}; leadsync resume lets it go on`,
    status.throttledUntil &&
      `  waiting  until ${time(status.throttledUntil)}, as the Leads service asked; leadsync resume ends it`,
    open > 0 &&
      `  edits    ${counted(open, 'requested edit waits', 'requested edits wait')}${why === null ? '' : `: ${shownDates(why, timeZone)}`}`,
    deletedLeads.length > 0 && '  deleted  in the service, rows kept:',
    ...deletedLeads.map((id) => `           ${companies.get(id) ?? id}`),
    outsideLeads > 0 &&
      `  outside  ${counted(outsideLeads, 'lead')} that leads.query does not show: rows kept, edits in them still arrive, no mails`,
    `  coming   ${counted(status.reminders.coming, 'reminder')}${due === null ? '' : `, the next for a follow-up due ${due}`}`,
  ];
  return lines.filter(Boolean).join('\n');
}
