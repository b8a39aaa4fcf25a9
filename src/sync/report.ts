import type pg from 'pg';
import { headingOf, type Headings } from '../core/lead/mapping.ts';
import type { Problem } from '../lib/errors.ts';
import { auditRun, nothingAudited, type RunAudit, type Unexplained } from '../core/audit/audit.ts';
import type { ActionKind } from '../core/merge/action.ts';
import { runPolicy } from '../review/run-policy.ts';
import { type ActionCount, countActions, troubledActions } from '../store/actions.ts';
import { approvalOf, editedByHand, leftOut, linesDoneBefore, linesOfRun } from '../store/approvals.ts';
import { countConflicts, listConflicts } from '../store/conflicts.ts';
import { openAttempts } from '../store/intents.ts';
import { actsOfRound, heldRecords } from '../store/verifications.ts';
import { connectionOf } from '../store/places.ts';
import type { ApprovedLine, Phase, Run, RunStatus } from '../store/runs.ts';
import type { Forecast } from './forecast.ts';
import { isNote } from './which-place.ts';
import { showCell } from '../core/lead/value.ts';
import { auditedConditions, auditRecords } from '../store/run-sights.ts';
import type { LeasedContext } from './context.ts';
import { counted } from '../core/lead/wording.ts';
import { type Act, countOutcomes, type RecordCounts } from '../core/merge/count-outcomes.ts';

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
  /** Rows that people paused; absent: none. */
  readonly pausedRows?: number;
  /** Only of an undo: there `equal` counts the writes that the written side shows. */
  readonly undoOf?: string;
  /** Only of a plan. */
  readonly forecast?: Forecast;
  /** Only of a run that carries out a reviewed plan. */
  readonly plan?: AppliedPlan;
}

/**
 * The lines of a reviewed plan by what became of them; lines in no number were put off or held, or the run ended before
 * them. `stale`: refused, because the records changed since the plan.
 */
export interface AppliedPlan {
  readonly lines: number;
  readonly done: number;
  readonly doneBefore: number;
  readonly stale: number;
}

const maxProblems = 1000;

/**
 * Counts what a run did. `failure`: the fault that ended it; `now`: its end (epoch ms). A run is `succeeded` only when
 * nothing is held, put off or left out, and each difference that remains is explained (`found`).
 */
export async function buildReport(
  db: pg.Pool,
  run: Run,
  failure: Problem | null,
  now: number,
  found: RunAudit = nothingAudited,
  headings: Headings = [],
): Promise<SyncReport> {
  const counts = await countActions(db, run.id);
  const sum = (isCounted: (count: ActionCount) => boolean): number =>
    counts.filter(isCounted).reduce((total, { count }) => total + count, 0);
  const done = (...kinds: readonly ActionKind[]): number =>
    sum(({ state, kind }) => state === 'done' && kinds.includes(kind));
  const linked = (...reasons: readonly string[]): number =>
    sum(({ state, kind, reason }) => state === 'done' && kind === 'link' && reasons.includes(reason));
  const { seesAll, idle, named } = runPolicy(run);
  const heldBy = seesAll ? null : run.id;
  const inDoubt = seesAll ? (await openAttempts(db, run.connection)).length : 0;
  const deferred = sum(
    ({ state, round, kind }) => state === 'deferred' && round === run.round && kind !== 'create-lead',
  );
  const held = await countConflicts(db, run.connection, heldBy);
  const acts = await actsOfRound(db, run);
  const isUndo = run.undoOf !== null;
  const byOutcome = countOutcomes(acts, await heldRecords(db, run.connection, isUndo ? run.id : null), {
    rowsReadEqual: run.rowsReadEqual,
    isFinished: run.phase === 'finish',
    isUndo,
  });
  // Where a write is not there any more the sides are not as the run left them.
  const audit = byOutcome.unexplained > 0 ? nothingAudited : found;
  const { verification, unaccounted } = verificationOf(run, byOutcome, seesAll);
  const unverified = acts.filter(({ receipt }) => receipt === 'changed' || receipt === 'unexplained');
  const reviewed = await reviewedLines(db, run);
  const changed = unverified.filter(({ receipt }) => receipt === 'changed').length;
  const putOff = deferred + inDoubt + changed + reviewed.refused.length;
  const isIdle =
    idle !== null &&
    failure === null &&
    run.refusals.length === 0 &&
    !counts.some(({ state }) => state === 'done') &&
    reviewed.applied.doneBefore === 0;
  const incomplete = isIdle || unaccounted !== 0 || held + putOff > 0 || !run.problems.every(isNote);
  const problems = [
    ...(failure === null ? [] : [failure]),
    ...run.refusals.map(({ code, message }) => ({ code: `guard.${code}`, message })),
    ...run.problems,
    ...(unaccounted === 0 ? [] : [unaccountedProblem(unaccounted, run.records)]),
    ...unverified.slice(0, maxProblems).map(unverifiedProblem),
    ...reviewed.refused.map(staleProblem),
    ...(await heldProblems(db, run, heldBy)),
    ...(await putOffProblems(db, run)),
    ...auditProblems(audit, !incomplete, headings),
  ];
  // What an undo leaves alone has a report of its own.
  const isNothing = isIdle && problems.length === 0 && !counts.some(({ kind }) => kind === 'report');
  const isDone = !incomplete && audit.count === 0 && !audit.isUnfinished;
  const ended = run.refusals.length > 0 ? 'stopped' : isDone ? 'succeeded' : 'partial';
  return {
    runId: String(run.id),
    connection: connectionOf(run.connection),
    status: failure !== null || byOutcome.unexplained > 0 ? 'failed' : ended,
    pulled: run.pulled,
    targetRows: run.targetRows,
    created: { leads: done('create-lead') + linked('settled-create'), rows: done('create-row') },
    updated: {
      leads: done('update-lead'),
      rows: done('update-row', 'mark-row', 'unlink') + linked('id-lost', 'matched'),
    },
    deleted: { leads: done('delete-lead'), rows: done('remove-row') },
    held,
    putOff,
    problems: (isNothing ? [idle] : problems).slice(0, maxProblems),
    requests: { leads: run.leadRequests, target: run.targetRequests },
    waitedMs: run.waitedMs,
    durationMs: Math.round((run.finishedAt ?? now) - run.createdAt),
    receipt: verification,
    ...(run.pausedRows > 0 && { pausedRows: run.pausedRows }),
    ...named,
    ...(run.approval !== null && { plan: reviewed.applied }),
  };
}

/** The problems of a plan beside its lines. */
export async function planProblems(db: pg.Pool, run: Run): Promise<readonly Problem[]> {
  if (run.status === 'failed') return (run.report as SyncReport).problems;
  // The lines of an undo's plan name what it leaves alone.
  if (!runPolicy(run).seesAll) return run.problems;
  const { problems } = run.report as SyncReport;
  const audited = problems.filter(({ code }) => code === auditCode);
  return [...run.problems, ...(await putOffProblems(db, run)), ...audited];
}

/** An approved line that was not carried out, because the plan does not hold it any more. */
interface StaleLine extends ApprovedLine {
  /** What would be done to the same record now, when that is something else. */
  readonly instead: ActionKind | null;
}

interface ReviewedLines {
  readonly applied: AppliedPlan;
  readonly refused: readonly StaleLine[];
}

/** In these phases a run has no plan yet. */
const phasesBeforePlan: readonly Phase[] = ['pull', 'read', 'plan'];

async function reviewedLines(db: pg.Pool, run: Run): Promise<ReviewedLines> {
  const approval = await approvalOf(db, run);
  if (approval === null) return { applied: { lines: 0, done: 0, doneBefore: 0, stale: 0 }, refused: [] };
  const own = await linesOfRun(db, run.id);
  const planned = new Set(own.map(({ line }) => line));
  const lines = approval.lines.filter(({ id }) => !planned.has(id));
  const before = await linesDoneBefore(db, run, { ...approval, lines });
  const isPlanned = run.refusals.length === 0 && (run.round > 1 || !phasesBeforePlan.includes(run.phase));
  const instead = await leftOut(db, run.id);
  const refused = isPlanned
    ? lines.flatMap((line) =>
        before.has(line.id) ? [] : [{ ...line, instead: instead.get(line.leadId ?? '') ?? null }],
      )
    : [];
  const done = new Set(own.flatMap(({ line, isDone }) => (isDone ? [line] : [])));
  const applied = {
    lines: approval.lines.length,
    done: done.size,
    doneBefore: before.size,
    stale: refused.length,
  };
  return { applied, refused };
}

function staleProblem({ id, kind, leadId, row, instead, fingerprint }: StaleLine): Problem {
  const refused = `line ${id} (${kind}) was not carried out`;
  if (fingerprint === editedByHand) {
    const message = `${refused}: it was changed by hand in the file. Type the value into the lead or the row instead, and make a new plan`;
    return problemAt('plan.line-edited', message, { leadId, row });
  }
  const now =
    instead === null
      ? 'there is nothing to be done for it any more'
      : `what would be done now is ${instead === kind ? 'another ' : ''}${instead}`;
  const message = `${refused}: what the plan saw is not so any more, and ${now}. leadsync plan shows it`;
  return problemAt('plan.stale', message, { leadId, row });
}

async function heldProblems(db: pg.Pool, run: Run, heldBy: number | null): Promise<Problem[]> {
  const conflicts = await listConflicts(db, run.connection, maxProblems, heldBy);
  return conflicts.map(({ code, message, ...place }) => problemAt(code, message, place));
}

/** A problem with the places that are known; an empty text is none. */
function problemAt(
  code: string,
  message: string,
  { leadId, row, field }: { leadId: string | null; row: number | null; field?: string | undefined },
): Problem {
  const place = { ...(leadId && { leadId }), ...(row !== null && { row }), ...(field && { field }) };
  return { code, message, ...place };
}

async function putOffProblems(db: pg.Pool, run: Run): Promise<Problem[]> {
  const actions = await troubledActions(db, run, maxProblems);
  return actions.map(({ code, message, fields, ...place }) =>
    problemAt(code, message, { ...place, field: fields.length === 1 ? fields[0] : undefined }),
  );
}

/** The report of a sync whose run could not begin. */
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
    receipt: noRecords,
  };
}

/**
 * Every record of either side, counted once by what became of it. `equal`: compared and the same, or written and read
 * again; of an undo only its writes. `left`: differs, and is to stay so (settings, a deletion without proof yet, no line
 * of the reviewed plan). `unexplained`: does not show what was written, or is in no other number.
 */
interface Verification {
  readonly records: number;
  readonly equal: number;
  readonly held: number;
  readonly putOff: number;
  readonly left: number;
  readonly unexplained: number;
}

/** Of a run that ended before its plan. */
const noRecords: Verification = { records: 0, equal: 0, held: 0, putOff: 0, left: 0, unexplained: 0 };

/** `seesAll`: see `RunPolicy`. `unaccounted`: records that are in no number; below 0: records counted twice. */
function verificationOf(
  run: Run,
  counts: RecordCounts,
  seesAll: boolean,
): { readonly verification: Verification; readonly unaccounted: number } {
  const { records } = run;
  if (records === 0) return { verification: noRecords, unaccounted: 0 };
  const { held, unexplained } = counts;
  const equal = run.comparedEqual + counts.written;
  const putOff = run.waiting + counts.putOff;
  const left = run.leftAlone + counts.left;
  const unaccounted = seesAll ? records - equal - held - putOff - left - unexplained : 0;
  const verification = {
    records,
    equal,
    held,
    putOff,
    left,
    unexplained: unexplained + Math.max(0, unaccounted),
  };
  return { verification, unaccounted };
}

function unaccountedProblem(unaccounted: number, records: number): Problem {
  const what =
    unaccounted > 0
      ? `${unaccounted} of ${counted(records, 'record')} could not be accounted for`
      : `${counted(-unaccounted, 'record')} too many ${unaccounted === -1 ? 'was' : 'were'} counted of ${records}`;
  const message = `${what}: it is not known whether both sides show the same. This is a mistake in leadsync: please report it with the log; the next run compares all of them again`;
  return { code: 'receipt.unaccounted', message };
}

function unverifiedProblem({ kind, leadId, row, receipt }: Act): Problem {
  return {
    code: `receipt.${receipt}`,
    message: receipt === 'changed' ? changedMessage(kind) : unexplainedMessage(kind),
    ...(leadId !== null && { leadId }),
    ...(row !== null && { row }),
  };
}

function changedMessage(kind: ActionKind): string {
  const side = kind === 'update-lead' ? 'lead' : 'row';
  return `the ${side} shows something else than was written a moment before: it was edited since, or stored otherwise; the next run looks again`;
}

function unexplainedMessage(kind: ActionKind): string {
  switch (kind) {
    case 'create-lead':
      return 'the service said that it created this lead, but does not show it: the next run holds its row. Clear the id in the row to have the lead created again';
    case 'update-lead':
      return 'the service confirmed a change of this lead, but does not show it; the next run writes it again';
    case 'delete-lead':
      return 'the service confirmed that this lead was deleted, but still shows it; the next run looks again';
    default:
      return `the row does not show what was written (${kind}): perhaps an older copy of the table was saved over it; the next run writes it again`;
  }
}

const auditCode = 'audit.unexplained';

const mostNamed = 100;

/** Looks at all that differs at the end of a run that compared both sides, and was not stopped. */
export async function audit(
  { pool, connection }: Pick<LeasedContext, 'pool' | 'connection'>,
  run: Run,
): Promise<RunAudit> {
  const { plan, leadsAlone } = runPolicy(run);
  if (plan !== null || leadsAlone || run.refusals.length > 0) return nothingAudited;
  const unseen = run.problems.flatMap(({ code, field }) =>
    code === 'target.column-missing' || code === 'target.column-new' ? (field ?? []) : [],
  );
  const conditions = {
    isPlan: run.mode === 'plan',
    unseen: new Set(unseen),
    ...(await auditedConditions(pool, run)),
  };
  const settings = { ...connection.sync, fields: connection.fields };
  return auditRun(auditRecords(pool, run), settings, conditions, mostNamed);
}

/** The problems of an audit. `saysAll`: nothing else says that the run is unfinished. */
function auditProblems(
  { unexplained, count, isUnfinished }: RunAudit,
  saysAll: boolean,
  fields: Headings,
): Problem[] {
  const more = count - unexplained.length;
  return [
    ...unexplained.map((one) => unexplainedProblem(one, fields)),
    ...(more > 0 ? [{ code: auditCode, message: `${more} more differences are not explained` }] : []),
    ...(count === 0 && isUnfinished && saysAll
      ? [
          {
            code: auditCode,
            message: `something that differs is not done yet, and nothing names it. ${mistake}`,
          },
        ]
      : []),
  ];
}

const mistake =
  'This is a mistake in leadsync: please report it with the log; nothing of it was lost, and the next run compares it again';

function unexplainedProblem(
  { leadId, row, name, field, lead, cell }: Unexplained,
  fields: Headings,
): Problem {
  const ids = [leadId === null ? [] : `lead ${leadId}`, row === null ? [] : `row ${row}`].flat().join(', ');
  const who = name === null ? ids : `${showCell(name)} (${ids})`;
  const what =
    field !== null
      ? `${headingOf(fields, field)} of ${who} is ${showCell(lead)} in the service and ${showCell(cell)} in the table`
      : lead === null
        ? `${who} is in the table, and the run saw no lead of it`
        : `${who} is in the service, and the run saw no row of it`;
  return {
    code: auditCode,
    message: `${what}, and nothing in this run says why. ${mistake}`,
    ...(leadId !== null && { leadId }),
    ...(row !== null && { row }),
    ...(field !== null && { field }),
  };
}
