import type { App } from '../app.ts';
import { explain, LeadsyncError } from '../lib/errors.ts';
import { silentKinds } from '../core/merge/action.ts';
import { visibleActions } from '../store/actions.ts';
import { openMatches } from '../store/held.ts';
import { companiesIn } from '../store/pairs.ts';
import type { RunStatus } from '../store/runs.ts';
import { planProblems } from '../sync/report.ts';
import { isNote } from '../sync/which-place.ts';
import type { CommonOptions } from './with-store.ts';
import {
  describePlan,
  describeUnmade,
  planJson,
  type ShownPlan,
  summaryJson,
  unmadeJson,
  type UnmadePlan,
} from './plan-output.ts';
import { exitCodeFor, print, printEachJson } from './output.ts';
import { refuseToOverwrite, writePlanFile } from './plan-file.ts';
import { runNow } from './run-now.ts';
import { stopping } from './stop.ts';
import { withApp } from './with-app.ts';

interface PlanOptions extends CommonOptions {
  readonly out?: string;
  readonly summary?: boolean;
  readonly all?: boolean;
}

export function plan(options: PlanOptions): Promise<void> {
  const { out, summary = false, all = false } = options;
  const detail = summary ? 'summary' : all ? 'all' : 'usual';
  if (out !== undefined) refuseToOverwrite(out);
  return withApp(options, async (app) => {
    if (out !== undefined && app.contexts.size > 1) {
      const message = 'a plan file holds one connection; nothing was scanned';
      const help = `Name it with --connection: ${[...app.contexts.keys()].join(', ')}`;
      throw new LeadsyncError('usage.one-connection', message, { help });
    }
    const plans: (MadePlan | UnmadePlan)[] = [];
    for (const name of app.contexts.keys()) {
      const plan = await planNow(app, name);
      plans.push(plan);
      if (!options.json)
        print('run' in plan ? describePlan(plan, plan.timeZone, { detail }) : describeUnmade(plan));
      if (out !== undefined && 'run' in plan) await keepPlan(app, plan, out, options);
    }
    if (options.json) printEachJson('plans', plans.map(summary ? summaryOf : outputOf));
    process.exitCode = exitCodeFor(plans);
  });
}

const outputOf = (plan: MadePlan | UnmadePlan) => ('run' in plan ? planJson(plan) : unmadeJson(plan));

const summaryOf = (plan: MadePlan | UnmadePlan) =>
  summaryJson(outputOf(plan), 'run' in plan ? plan.actions : []);

/** One connection's plan; a fault that let no run begin, or no result be read, is a failed one like any other. */
async function planNow(app: App, connection: string): Promise<MadePlan | UnmadePlan> {
  try {
    return await makePlanNow(app, connection, {}, stopping);
  } catch (error) {
    if (!(error instanceof LeadsyncError)) throw error;
    return { connection, status: 'failed', problems: [{ code: error.code, message: explain(error) }] };
  }
}

export interface MadePlan extends ShownPlan {
  /** For the exit code: `partial` if anything is held, unreadable, or not undoable. */
  readonly status: RunStatus;
  /** IANA zone in which people see its dates. */
  readonly timeZone: string;
}

export async function makePlanNow(
  app: App,
  connection: string,
  request: { readonly undoOf?: number },
  stop: AbortSignal,
): Promise<MadePlan> {
  const { pool } = app;
  const run = await runNow(app, connection, { mode: 'plan', ...request }, stop);
  const actions = await visibleActions(pool, run);
  const problems = await planProblems(pool, run);
  const ended = run.status === 'stopped' || run.status === 'failed';
  const isIdle = run.undoOf !== null && !actions.some(({ kind }) => !silentKinds.includes(kind));
  const isPartial = isIdle || !run.problems.every(isNote) || actions.some(({ kind }) => kind === 'hold');
  const companies = await companiesIn(pool, run.connection, [...actions, ...problems]);
  const matches = await openMatches(pool, run.connection);
  const status = ended ? run.status : isPartial ? 'partial' : 'succeeded';
  const { fields = [], timeZone = 'UTC' } = app.contexts.get(connection)?.connection ?? {};
  return { run, actions, problems, companies, fields, matches, timeZone, status };
}

/** Not for a failed scan. */
export async function keepPlan(
  app: App,
  made: MadePlan,
  out: string,
  { json }: CommonOptions,
): Promise<void> {
  const { run, actions } = made;
  const context = app.contexts.get(run.connection);
  if (run.status === 'failed' || context === undefined) return;
  await writePlanFile(out, made, context.connection);
  if (json) return;
  print(`\nThe plan is in ${out}. To carry out exactly this, or some of it:`);
  print(`  leadsync apply ${out}`);
  print(`  leadsync apply ${out} --only ${actions[0]?.id ?? 'ID'},…`);
}
