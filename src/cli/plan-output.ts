import { plainCell, showCell } from '../lead/value.ts';
import type { Refusal } from '../merge/guard.ts';
import type { Action } from '../store/actions.ts';
import type { Run } from '../store/runs.ts';
import type { Forecast } from '../sync/forecast.ts';
import type { SyncReport } from '../sync/report.ts';
import { problemsShown } from './describe-report.ts';
import { describeProblem } from './output.ts';

/** One action of a plan to the letter of the contract (docs/architecture.md 8). */
interface PlanLine {
  readonly id: string;
  readonly kind: Action['kind'];
  readonly leadId?: string;
  readonly row?: number;
  readonly changes: Readonly<Record<string, { readonly from: string | null; readonly to: string | null }>>;
  readonly reason: string;
}

/**
 * A plan to the letter of the contract (docs/architecture.md 8, `plan --json`). `problems` only when there are any: why the scan failed, a
 * column that could not be looked at, what is told without anything to be done now.
 */
export interface PlanOutput {
  readonly planId: string;
  readonly connection: string;
  /** Only of an undo. */
  readonly undoOf?: string;
  readonly actions: readonly PlanLine[];
  readonly guard: { readonly ok: boolean; readonly refusals: readonly Refusal[] };
  readonly problems?: SyncReport['problems'];
  /** Not when the run failed, or was stopped before it compared anything. */
  readonly forecast?: Forecast;
}

/** A plan with what is told beside its lines. */
interface ShownPlan {
  readonly run: Run;
  readonly actions: readonly Action[];
  readonly problems: SyncReport['problems'];
}

export function planJson({ run, actions, problems }: ShownPlan): PlanOutput {
  return {
    planId: String(run.id),
    connection: run.connection,
    ...(run.undoOf !== null && { undoOf: String(run.undoOf) }),
    actions: actions.map(planLine),
    guard: { ok: run.refusals.length === 0, refusals: run.refusals },
    ...(problems.length > 0 && { problems }),
    ...forecastOf(run),
  };
}

/** Runs of an older version, and those that came to no comparison, have none. */
function forecastOf({ report }: Run): Pick<SyncReport, 'forecast'> {
  const { forecast } = (report ?? {}) as Partial<SyncReport>;
  return forecast === undefined ? {} : { forecast };
}

function planLine({ id, kind, leadId, row, changes, reason, message }: Action): PlanLine {
  return {
    id: String(id),
    kind,
    ...(leadId !== null && { leadId }),
    ...(row !== null && { row }),
    changes: Object.fromEntries(
      Object.entries(changes).map(([field, { from, to }]) => [
        field,
        { from: plainCell(from), to: plainCell(to) },
      ]),
    ),
    reason: message === undefined || message === null ? reason : `${reason}: ${message}`,
  };
}

/** Each change field by field, for people. `goesOn`: it is carried out at once. */
export function describePlan({ run, actions, problems }: ShownPlan, { goesOn = false } = {}): string {
  const what = run.undoOf === null ? `plan ${run.id}` : `plan ${run.id} to undo run ${run.undoOf}`;
  const said = problems.slice(0, problemsShown).map((problem) => `  ! ${describeProblem(problem)}`);
  const more = problems.length - problemsShown;
  if (more > 0) said.push(`  ! and ${more} more (--json lists them)`);
  if (run.status === 'failed') {
    return [`${run.connection}: ${what} failed`, ...said, '  nothing was written'].join('\n');
  }
  const lines = [
    `${run.connection}: ${what}: ${run.pulled} leads, ${run.targetRows} rows, ${actions.length} actions`,
  ];
  for (const action of actions) {
    const place = [action.row === null ? '' : `row ${action.row}`, action.leadId ?? '']
      .filter(Boolean)
      .join(', ');
    // What an undo leaves alone says in a sentence why.
    const why = action.kind === 'report' ? (action.message ?? action.reason) : action.reason;
    const kind = action.kind === 'report' ? 'left alone' : action.kind;
    lines.push(`  ${kind.padEnd(12)} ${place}  (${why})`);
    // Of a record that is held as a whole no field tells why.
    const isWhole = action.kind === 'hold' && Object.keys(action.changes).length === 0;
    if ((isWhole || action.kind === 'link') && action.message) lines.push(`    ${action.message}`);
    if (action.kind === 'delete-lead' || action.kind === 'remove-row') {
      const lost = Object.entries(action.expect).filter(([, cell]) => cell !== null);
      lines.push(`    ${lost.map(([field, cell]) => `${field}: ${showCell(cell)}`).join(', ')}`);
    }
    for (const [field, { from, to }] of Object.entries(action.changes)) {
      const sign = action.kind === 'hold' ? 'lead/row' : 'change';
      lines.push(
        `    ${sign === 'change' ? '' : 'lead '}${field}: ${showCell(from)} ${sign === 'change' ? '→' : '| row'} ${showCell(to)}`,
      );
    }
  }
  lines.push(...said);
  if (actions.length + problems.length + run.refusals.length === 0)
    lines.push(
      run.undoOf === null ? '  nothing to do' : `  nothing of run ${run.undoOf} is left to put back`,
    );
  for (const refusal of run.refusals)
    lines.push(`  the guard would stop this: ${refusal.message} [${refusal.code}]`);
  const { forecast } = forecastOf(run);
  if (forecast !== undefined)
    lines.push(`  ${goesOn ? 'this takes' : 'carried out now, it takes'} ${describeForecast(forecast)}`);
  if (!goesOn) lines.push('  nothing was written');
  return lines.join('\n');
}

/** In a sentence. */
export function describeForecast({ leadRequests, waitMs, durationMs, finishAt }: Forecast): string {
  const requests = `${leadRequests} requests to the Leads service`;
  const waits = waitMs === 0 ? '' : `, ${seconds(waitMs)} of it waiting for the service's limit`;
  return `${requests}, about ${seconds(durationMs)}${waits}, until ${finishAt.slice(0, 19)}Z`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
