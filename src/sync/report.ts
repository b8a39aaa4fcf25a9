import type pg from 'pg';
import type { Problem } from '../errors.ts';
import type { ActionKind } from '../core/merge/action.ts';
import { runPolicy } from '../review/run-policy.ts';
import { countActions, troubledActions } from '../store/actions.ts';
import {
  countApproved,
  countDoneLines,
  editedByHand,
  type StaleLine,
  staleLines,
} from '../store/approvals.ts';
import { countConflicts, listConflicts } from '../store/conflicts.ts';
import { unsettledAttempts } from '../store/intents.ts';
import { countRecordsByFate, strangeReceipts } from '../store/receipts.ts';
import { connectionOf } from '../store/places.ts';
import type { Phase, Run, RunStatus } from '../store/runs.ts';
import type { Forecast } from './forecast.ts';
import { isNote } from './which-place.ts';
import {
  notVerified,
  strangeProblem,
  unaccountedProblem,
  type Verification,
  verificationOf,
} from './verification.ts';

/** The result of a sync, to the letter of the contract (docs/architecture.md 8, `sync --json`). */
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
  readonly receipt: Verification;
  /** Only of a run that put another one back: there `equal` means as it was put back, on the side that was written. */
  readonly undoOf?: string;
  /** Only of a plan. */
  readonly forecast?: Forecast;
  /** Only of a run that carries out a reviewed plan. */
  readonly plan?: AppliedPlan;
}

/**
 * What became of the lines of a reviewed plan; of those that are in no number nothing came: put off, held, or the run
 * did not come so far. `stale`: refused, because what they saw is not so any more.
 */
export interface AppliedPlan {
  readonly lines: number;
  readonly done: number;
  readonly doneBefore: number;
  readonly stale: number;
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
  const { seesAll, idle, named } = runPolicy(run);
  const heldBy = seesAll ? null : run.id;
  const inDoubt = seesAll ? (await unsettledAttempts(db, run.connection)).length : 0;
  const putOffActions = counts
    .filter(
      (count) => count.state === 'deferred' && count.round === run.round && count.kind !== 'create-lead',
    )
    .reduce((total, { count }) => total + count, 0);
  const held = await countConflicts(db, run.connection, heldBy);
  const fates = await countRecordsByFate(db, run);
  const { verification, unaccounted } = verificationOf(run, fates, seesAll);
  const strange = await strangeReceipts(db, run, maxProblems);
  const stale = await linesNotFound(db, run);
  const changed = strange.filter(({ receipt }) => receipt === 'changed').length;
  const putOff = putOffActions + inDoubt + changed + stale.refused.length;
  const isIdle =
    idle !== null &&
    failure === null &&
    run.refusals.length === 0 &&
    !counts.some(({ state }) => state === 'done') &&
    stale.doneBefore === 0;
  const told = [
    ...(failure === null ? [] : [failure]),
    ...run.refusals.map(({ code, message }) => ({ code: `guard.${code}`, message })),
    ...run.problems,
    ...(unaccounted === 0 ? [] : [unaccountedProblem(unaccounted, run.records)]),
    ...strange.map(strangeProblem),
    ...stale.refused.map(staleProblem),
    ...(await heldProblems(db, run, heldBy)),
    ...(await putOffProblems(db, run)),
  ];
  // What was left alone says itself why.
  const problems =
    isIdle && told.length === 0 && !counts.some(({ kind }) => kind === 'report') ? [idle] : told;
  const incomplete = isIdle || unaccounted !== 0 || held + putOff > 0 || !run.problems.every(isNote);
  return {
    runId: String(run.id),
    connection: connectionOf(run.connection),
    status:
      failure !== null || fates.unexplained > 0
        ? 'failed'
        : run.refusals.length > 0
          ? 'stopped'
          : incomplete
            ? 'partial'
            : 'succeeded',
    pulled: run.pulled,
    targetRows: run.targetRows,
    created: { leads: done(['create-lead']) + done(['link'], 'settled-create'), rows: done(['create-row']) },
    updated: {
      leads: done(['update-lead']),
      rows:
        done(['update-row', 'mark-row', 'unlink']) + done(['link'], 'id-lost') + done(['link'], 'matched'),
    },
    deleted: { leads: done(['delete-lead']), rows: done(['remove-row']) },
    held,
    putOff,
    problems: problems.slice(0, maxProblems),
    requests: { leads: run.leadRequests, target: run.targetRequests },
    waitedMs: run.waitedMs,
    durationMs: Math.round((run.finishedAt ?? now) - run.createdAt),
    receipt: verification,
    ...named,
    ...(run.approval !== null && { plan: await appliedPlan(db, run.id, run.approval, stale) }),
  };
}

/** What a plan tells beside its lines: what it could not look at, and what it only tells of. */
export async function planProblems(db: pg.Pool, run: Run): Promise<readonly Problem[]> {
  if (run.status === 'failed') return (run.report as SyncReport).problems;
  // What an undo leaves alone is among its lines.
  return runPolicy(run).seesAll ? [...run.problems, ...(await putOffProblems(db, run))] : run.problems;
}

interface LinesNotFound {
  readonly refused: readonly StaleLine[];
  readonly doneBefore: number;
}

/** Until these are over, it is not known what a run finds. */
const phasesBeforePlan: readonly Phase[] = ['pull', 'read', 'plan'];

async function linesNotFound(
  db: pg.Pool,
  { id, connection, approval, phase, round, refusals }: Run,
): Promise<LinesNotFound> {
  if (approval === null) return { refused: [], doneBefore: 0 };
  const lines = await staleLines(db, { id, connection, approval });
  const notFound = lines.filter(({ doneBy }) => doneBy === null);
  const isPlanned = refusals.length === 0 && (round > 1 || !phasesBeforePlan.includes(phase));
  return { refused: isPlanned ? notFound : [], doneBefore: lines.length - notFound.length };
}

async function appliedPlan(
  db: pg.Pool,
  id: number,
  approval: string,
  { doneBefore, refused }: LinesNotFound,
): Promise<AppliedPlan> {
  const lines = await countApproved(db, approval);
  const done = await countDoneLines(db, { id, approval });
  return { lines, done, doneBefore, stale: refused.length };
}

function staleProblem({ id, kind, leadId, row, instead, fingerprint }: StaleLine): Problem {
  const place = { ...(leadId !== null && { leadId }), ...(row !== null && { row }) };
  const refused = `line ${id} (${kind}) was not carried out`;
  if (fingerprint === editedByHand) {
    const message = `${refused}: it was changed by hand in the file. Type the value into the lead or the row instead, and make a new plan`;
    return { code: 'plan.line-edited', message, ...place };
  }
  const now =
    instead === null
      ? 'there is nothing to be done for it any more'
      : `what would be done now is ${instead === kind ? 'another ' : ''}${instead}`;
  const message = `${refused}: what the plan saw is not so any more, and ${now}. leadsync plan shows it`;
  return { code: 'plan.stale', message, ...place };
}

async function heldProblems(db: pg.Pool, run: Run, heldBy: number | null): Promise<Problem[]> {
  const items = await listConflicts(db, run.connection, maxProblems, heldBy);
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
    status: problem.code === 'connection.paused' ? 'stopped' : 'failed',
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
    receipt: notVerified,
  };
}
