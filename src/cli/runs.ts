import type pg from 'pg';
import type { ConnectionConfig } from '../config/config.ts';
import { silentKinds } from '../core/merge/action.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { counted } from '../core/lead/wording.ts';
import { shownDates, shownMoment } from '../core/lead/shown-date.ts';
import { listActions, type ListedAction, type ListedRun, listRuns } from '../store/run-list.ts';
import { getRun } from '../store/runs.ts';
import { companiesIn, describeAction, plainChanges } from './plan-output.ts';
import { describeProblem, print, printJson, seconds, wholeNumber } from './output.ts';
import { type CommonOptions, withStore } from './with-store.ts';

const mostListed = 1000;

export function runs(id: string | null, limitText: string, options: CommonOptions): Promise<void> {
  const limit = wholeNumber('--limit', limitText, 1, mostListed);
  return withStore(options, async (pool, { connections }) => {
    if (id !== null) return showRun(pool, connections, id, options.json ?? false);
    const listed = [];
    for (const { name, timeZone } of connections) {
      const ofConnection = await listRuns(pool, name, null, limit);
      listed.push(...ofConnection.map((run) => json(name, run)));
      if (options.json) continue;
      print(name);
      if (ofConnection.length === 0) print('  no run so far');
      for (const run of ofConnection) print(describe(run, timeZone));
    }
    if (options.json) printJson({ runs: listed });
  });
}

const page = 1000;

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
    const some = await listActions(pool, run, after, page);
    written.push(...some.filter(({ state, kind }) => state === 'done' && !silentKinds.includes(kind)));
    if (some.length < page) break;
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

function json(connection: string, run: ListedRun): object {
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

function describe(run: ListedRun, timeZone: string): string {
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
