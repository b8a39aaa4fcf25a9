import type pg from 'pg';
import type { ConnectionConfig } from '../config/config.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { counted } from '../core/lead/wording.ts';
import { shownDates, shownMoment } from '../core/lead/shown-date.ts';
import {
  type ConnectionStatus,
  connectionStatus,
  type ServerOutage,
  serverOutages,
} from '../ops/connection-status.ts';
import { forMany } from '../store/for-many.ts';
import { companiesIn, companiesOf } from '../store/pairs.ts';
import { print, printJson, describeProblem, seconds, wholeNumber } from './output.ts';
import { tellReport, describeAction, plainChanges } from './plan-output.ts';
import type { RemindersOptions } from './reminders.ts';
import { withStore, type CommonOptions } from './with-store.ts';
import { silentKinds } from '../core/merge/action.ts';
import { type ListedAction, type ListedRun, listActions, listRuns } from '../store/run-list.ts';
import { getRun } from '../store/runs.ts';

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

const mostListed = 1000;

export function runs(id: string | null, limitText: string, options: CommonOptions): Promise<void> {
  const limit = wholeNumber('--limit', limitText, 1, mostListed);
  return withStore(options, async (pool, { connections }) => {
    if (id !== null) return showRun(pool, connections, id, options.json ?? false);
    const listed = [];
    for (const { name, timeZone } of connections) {
      const ofConnection = await listRuns(pool, name, null, limit);
      listed.push(...ofConnection.map((run) => runJson(name, run)));
      if (options.json) continue;
      print(name);
      if (ofConnection.length === 0) print('  no run so far');
      for (const run of ofConnection) print(describeRun(run, timeZone));
    }
    if (options.json) printJson({ runs: listed });
  });
}

const actionsAtOnce = 1000;

async function showRun(
  pool: pg.Pool,
  connections: readonly ConnectionConfig[],
  id: string,
  isJson: boolean,
): Promise<void> {
  const run = /^\d{1,15}$/.test(id) ? await getRun(pool, Number(id)) : null;
  const connection = connections.find(({ name }) => name === run?.connection);
  if (run === null || connection === undefined)
    throw new LeadsyncError('usage.unknown-run', `there is no run ${id}, or its history was pruned`, {
      help: 'leadsync status --runs lists the runs.',
    });
  const written: ListedAction[] = [];
  let after = 0;
  for (;;) {
    const some = await listActions(pool, run, after, actionsAtOnce);
    written.push(...some.filter(({ state, kind }) => state === 'done' && !silentKinds.includes(kind)));
    if (some.length < actionsAtOnce) break;
    after = some.at(-1)?.id ?? after;
  }
  if (isJson) return printJson({ runId: id, connection: run.connection, changes: written.map(changeJson) });
  const companies = await companiesIn(pool, run.connection, written);
  print(`${run.connection}: run ${id}, ${run.status}: ${counted(written.length, 'change')}`);
  for (const one of written)
    print(
      shownDates(
        describeAction(one, { companies, fields: connection.fields }).join('\n'),
        connection.timeZone,
      ),
    );
}

function changeJson({ kind, leadId, row, changes, reason }: ListedAction): object {
  return { kind, leadId, row, changes: plainChanges(changes), reason };
}

function kindOf({ mode, undoOf, isApplied }: ListedRun): 'sync' | 'plan' | 'edit' | 'undo' | 'apply' {
  if (mode !== 'sync') return mode;
  return undoOf !== null ? 'undo' : isApplied ? 'apply' : 'sync';
}

function reasonOf({ status, problem }: ListedRun): ListedRun['problem'] {
  return status === 'stopped' || status === 'failed' ? problem : null;
}

function runJson(connection: string, run: ListedRun): object {
  const { id, status, undoOf, createdAt, finishedAt, written, held, tableReadAt } = run;
  const reason = reasonOf(run);
  return {
    runId: String(id),
    connection,
    kind: kindOf(run),
    ...(undoOf !== null && { undoOf: String(undoOf) }),
    status,
    startedAt: new Date(createdAt).toISOString(),
    finishedAt: finishedAt === null ? null : new Date(finishedAt).toISOString(),
    durationMs: finishedAt === null ? null : Math.round(finishedAt - createdAt),
    changes: written,
    held,
    ...(tableReadAt !== null && { tableReadAt }),
    ...(reason !== null && { reason }),
  };
}

function describeRun(run: ListedRun, timeZone: string): string {
  const { id, status, undoOf, createdAt, finishedAt, written, held, tableReadAt } = run;
  const kind = kindOf(run);
  const whose = undoOf === null ? '' : kind === 'plan' ? ` to undo run ${undoOf}` : ` of run ${undoOf}`;
  const what = kind === 'sync' ? '' : `${kind}${whose}, `;
  const parts = [
    `${what}${status}`,
    kind !== 'plan' && written !== null && (written > 0 ? counted(written, 'change') : 'no change'),
    held !== null && held > 0 && `${held} held`,
    tableReadAt !== null && `table unchanged since ${shownMoment(tableReadAt, timeZone)}`,
    finishedAt !== null && shownSeconds(finishedAt - createdAt),
  ].filter(Boolean);
  const reason = reasonOf(run);
  return [
    `${String(id).padStart(6)}  ${shownMoment(createdAt, timeZone)}  ${parts.join(', ')}`,
    ...(reason === null ? [] : [`        ${shownDates(describeProblem(reason), timeZone)}`]),
  ].join('\n');
}

function shownSeconds(ms: number): string {
  return ms < 60_000 ? seconds(ms) : `${Math.round(ms / 60_000)} min`;
}
