import type { App } from '../app.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { getRun, type Run } from '../store/runs.ts';
import { applyLines, doable, whatFollows } from './apply.ts';
import type { CommonOptions } from './with-store.ts';
import { exitCodeFor, print, printJson } from './output.ts';
import { keepPlan, makePlanNow } from './plan.ts';
import { refuseToOverwrite } from './plan-file.ts';
import { describePlan, planJson, tellReport } from './plan-output.ts';
import { stopping } from './stop.ts';
import { withApp } from './with-app.ts';

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
