import type pg from 'pg';
import type { Problem } from '../errors.ts';
import type { ActionKind } from '../merge/action.ts';
import { countActions, troubledActions } from '../store/actions.ts';
import { countHeld, listHeld } from '../store/held.ts';
import { unsettledAttempts } from '../store/intents.ts';
import type { Run, RunStatus } from '../store/runs.ts';

/** The result of a sync, to the letter of the contract (DESIGN 8, `sync --json`). */
export interface SyncReport {
  readonly runId: string;
  readonly connection: string;
  readonly status: Exclude<RunStatus, 'running'>;
  readonly pulled: number;
  readonly targetRows: number;
  readonly created: { readonly leads: number; readonly rows: number };
  readonly updated: { readonly leads: number; readonly rows: number };
  readonly deleted: { readonly leads: number; readonly rows: number };
  readonly held: number;
  readonly putOff: number;
  readonly problems: readonly Problem[];
  readonly requests: { readonly leads: number; readonly target: number };
  readonly waitedMs: number;
  readonly durationMs: number;
}

/** The most problems that a report lists one by one. */
const maxProblems = 1000;

/**
 * Counts what a run did. `failure` is the fault that ended it, `now` the end (epoch ms). A run is `succeeded` only when nothing is held, put off
 * or left out.
 */
export async function buildReport(
  db: pg.Pool,
  run: Run,
  failure: Problem | null,
  now: number,
): Promise<SyncReport> {
  const counts = await countActions(db, run.id);
  const done = (kinds: readonly ActionKind[], reason?: string): number =>
    counts
      .filter(
        (count) =>
          count.state === 'done' && kinds.includes(count.kind) && (reason ?? count.reason) === count.reason,
      )
      .reduce((total, { count }) => total + count, 0);
  const inDoubt = (await unsettledAttempts(db, run.connection)).length;
  const putOffActions = counts
    .filter((count) => count.state === 'put-off' && count.round === run.round && count.kind !== 'create-lead')
    .reduce((total, { count }) => total + count, 0);
  const held = await countHeld(db, run.connection);
  const putOff = putOffActions + inDoubt;
  const problems = [
    ...(failure === null ? [] : [failure]),
    ...run.refusals.map(({ code, message }) => ({ code: `guard.${code}`, message })),
    ...run.problems,
    ...(await heldProblems(db, run)),
    ...(await putOffProblems(db, run)),
  ];
  const incomplete = held + putOff + run.problems.length > 0;
  return {
    runId: String(run.id),
    connection: run.connection,
    status:
      failure !== null
        ? 'failed'
        : run.refusals.length > 0
          ? 'stopped'
          : incomplete
            ? 'partial'
            : 'succeeded',
    pulled: run.pulled,
    targetRows: run.targetRows,
    created: { leads: done(['create-lead']) + done(['link'], 'settled-create'), rows: done(['create-row']) },
    updated: { leads: done(['update-lead']), rows: done(['update-row', 'mark-row']) },
    deleted: { leads: done(['delete-lead']), rows: done(['remove-row']) },
    held,
    putOff,
    problems: problems.slice(0, maxProblems),
    requests: { leads: run.leadRequests, target: run.targetRequests },
    waitedMs: run.waitedMs,
    durationMs: Math.round((run.finishedAt ?? now) - run.createdAt),
  };
}

async function heldProblems(db: pg.Pool, run: Run): Promise<Problem[]> {
  const items = await listHeld(db, run.connection, maxProblems);
  return items.map((item) => ({
    code: item.code,
    message: item.message,
    ...(item.leadId !== '' && { leadId: item.leadId }),
    ...(item.row !== null && { row: item.row }),
    ...(item.field !== '' && { field: item.field }),
  }));
}

async function putOffProblems(db: pg.Pool, run: Run): Promise<Problem[]> {
  const actions = await troubledActions(db, run, maxProblems);
  return actions.map(({ code, message, leadId, row, fields }) => {
    const [only] = fields;
    return {
      code,
      message,
      ...(leadId !== null && { leadId }),
      ...(row !== null && { row }),
      ...(fields.length === 1 && only !== undefined && { field: only }),
    };
  });
}

/** The report of a sync that could not even begin its run. */
export function failedReport(connection: string, problem: Problem, durationMs: number): SyncReport {
  const none = { leads: 0, rows: 0 };
  return {
    runId: '',
    connection,
    status: 'failed',
    pulled: 0,
    targetRows: 0,
    created: none,
    updated: none,
    deleted: none,
    held: 0,
    putOff: 0,
    problems: [problem],
    requests: { leads: 0, target: 0 },
    waitedMs: 0,
    durationMs,
  };
}
