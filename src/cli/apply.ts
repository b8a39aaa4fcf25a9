import type { App } from '../app.ts';
import { silentKinds } from '../core/merge/action.ts';
import { LeadsyncError } from '../lib/errors.ts';
import type { Action } from '../store/actions.ts';
import { type ApprovedLine, getRun, type Run } from '../store/runs.ts';
import type { SyncReport } from '../sync/report.ts';
import { allowed, tellReport, describePlan, planJson } from './plan-output.ts';
import type { CommonOptions } from './with-store.ts';
import { exitCodeFor, print, printJson } from './output.ts';
import {
  approvedLines,
  assertOnRecord,
  assertSameSettings,
  type PlanFile,
  readPlanFile,
  refuseToOverwrite,
} from './plan-file.ts';
import { type ForegroundRun, runNow } from './run-now.ts';
import { stopping } from './stop.ts';
import { withApp } from './with-app.ts';
import { keepPlan, makePlanNow } from './plan.ts';

interface ApplyOptions extends CommonOptions {
  readonly only?: readonly string[];
  readonly allow?: readonly string[];
}

export function apply(file: string, options: ApplyOptions): Promise<void> {
  const plan = readPlanFile(file);
  const { connection } = plan;
  if (options.connection !== undefined && options.connection !== connection) {
    throw new LeadsyncError(
      'usage.plan-connection',
      `the plan in ${file} is for the connection ${connection}, not for ${options.connection}. Nothing was carried out`,
      { help: 'leadsync plan --out FILE makes a new plan.' },
    );
  }
  const lines = approvedLines(plan, options.only ?? null);
  return withApp({ ...options, connection }, async (app) => {
    const report = await applyPlan(app, plan, lines, options.allow ?? [], stopping);
    const context = app.contexts.get(connection);
    if (options.json) printJson(report);
    else if (context !== undefined)
      print(await tellReport(app.pool, report, context.connection, commandOf(file, options)));
    if (!options.json && plan.undoOf !== undefined) print(`\n${whatFollows}`);
    process.exitCode = exitCodeFor([report]);
  });
}

function commandOf(file: string, { only, allow = [] }: ApplyOptions): string {
  const lines = only === undefined ? [] : [`--only ${only.join(',')}`];
  return ['leadsync apply', file, ...lines, ...allowed(allow)].join(' ');
}

export async function applyPlan(
  app: App,
  plan: PlanFile,
  lines: readonly ApprovedLine[],
  allow: readonly string[],
  stop: AbortSignal,
): Promise<SyncReport> {
  const { connection } = plan;
  const context = app.contexts.get(connection);
  if (context === undefined) throw new Error(`connection ${connection} is not configured`);
  assertSameSettings(plan, context.connection);
  const planId = Number(plan.planId);
  assertOnRecord(plan, await getRun(app.pool, planId), context.connection.retentionDays);
  const undoOf = plan.undoOf === undefined ? undefined : Number(plan.undoOf);
  return applyLines(app, connection, planId, lines, { allow, undoOf }, stop);
}

/** All of a plan that can be carried out, as lines. */
export function doable(actions: readonly Action[]): readonly ApprovedLine[] {
  return actions
    .filter(({ kind }) => kind !== 'hold' && !silentKinds.includes(kind))
    .map((action) => ({ ...action, id: String(action.id) }));
}

export async function applyLines(
  app: App,
  connection: string,
  planId: number,
  lines: readonly ApprovedLine[],
  how: Pick<ForegroundRun, 'allow' | 'undoOf'>,
  stop: AbortSignal,
): Promise<SyncReport> {
  const approved = {
    planId,
    lines: lines.map(({ id, kind, leadId, row, fingerprint }) => ({ id, kind, leadId, row, fingerprint })),
  };
  const run = await runNow(app, connection, { mode: 'sync', ...how, approved }, stop);
  return run.report as SyncReport;
}

export const whatFollows = [
  'Each restored value is an edit: the next sync carries it to the other side, if the direction allows.',
  'Decided conflicts are open again: the next sync holds them, or decides them by the settings.',
  'A removed row or lead is not made again by itself: its lead or row is held',
  '(leadsync conflicts) until it changes, or until you run leadsync resolve ID.',
].join('\n');

interface UndoOptions extends CommonOptions {
  readonly out?: string;
  readonly yes?: boolean;
}

/** Writes nothing unless `--yes`. Whatever was edited after the run, or written by another one, is left alone. */
export function undo(id: string, options: UndoOptions): Promise<void> {
  const { out } = options;
  if (out !== undefined) refuseToOverwrite(out);
  return withApp(options, async (app) => {
    const undone = await runToUndo(app, id);
    const { connection } = undone;
    const made = await makePlanNow(app, connection, { undoOf: undone.id }, stopping);
    const { run, actions } = made;
    if (out !== undefined) await keepPlan(app, made, out, { json: true });
    if (!options.json)
      print(describePlan(made, made.timeZone, { goesOn: options.yes === true, detail: 'all' }));
    if (!options.yes || run.status === 'failed') {
      if (options.json) printJson(planJson(made));
      else if (doable(actions).length > 0) print(howToGoOn(id, connection, out));
      process.exitCode = exitCodeFor([made]);
      return;
    }
    const lines = doable(actions);
    const report = await applyLines(app, connection, run.id, lines, { undoOf: undone.id }, stopping);
    if (options.json) printJson(report);
    else print(`${await tellReport(app.pool, report, made)}\n\n${whatFollows}`);
    process.exitCode = exitCodeFor([report]);
  });
}

/** Throws `usage.unknown-run` unless it is a finished run of a configured connection that may have written something. */
async function runToUndo(app: App, id: string): Promise<Run> {
  const run = /^\d{1,15}$/.test(id) ? await getRun(app.pool, Number(id)) : null;
  const reason =
    run === null || !app.contexts.has(run.connection)
      ? `there is no run ${id}, or its history was pruned (sync.retention)`
      : run.mode === 'plan'
        ? `${id} is a plan: it has written nothing`
        : run.finishedAt === null
          ? `run ${id} is not finished; leadsync status shows its progress`
          : null;
  if (run !== null && reason === null) return run;
  throw new LeadsyncError('usage.unknown-run', `${reason ?? ''}. Nothing was changed`, {
    help: 'leadsync status --runs lists the runs; leadsync why LEAD names those that wrote a lead.',
  });
}

function howToGoOn(id: string, connection: string, out: string | undefined): string {
  return [
    '',
    out === undefined
      ? `To carry it out: leadsync undo ${id} --connection ${connection} --yes`
      : `To carry it out, or some of it: leadsync apply ${out} [--only ID,ID]`,
    whatFollows,
  ].join('\n');
}
