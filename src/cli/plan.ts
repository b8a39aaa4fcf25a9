import { showCell } from '../lead/value.ts';
import { type Action, visibleActions } from '../store/actions.ts';
import type { Run, RunStatus } from '../store/runs.ts';
import type { SyncReport } from '../sync/report.ts';
import type { CommonOptions } from './main.ts';
import { exitCodeFor, print, printJson } from './output.ts';
import { runJob } from './run-job.ts';
import { stopSignal, withApp } from './with-app.ts';

/** `leadsync plan`: scan and diff; writes nothing. */
export function plan(options: CommonOptions): Promise<void> {
  const stop = stopSignal();
  return withApp(options, async (app) => {
    const plans: object[] = [];
    const statuses: RunStatus[] = [];
    for (const name of app.contexts.keys()) {
      const run = await runJob(app, name, 'plan', [], stop);
      const actions = await visibleActions(app.pool, run);
      const ended = run.status === 'stopped' || run.status === 'failed';
      const held = actions.some((action) => action.kind === 'hold');
      statuses.push(ended ? run.status : held ? 'partial' : 'succeeded');
      plans.push(planJson(run, actions));
      if (!options.json) print(describePlan(run, actions));
    }
    const [only] = plans;
    if (options.json) printJson(plans.length === 1 && only !== undefined ? only : { plans });
    process.exitCode = exitCodeFor(statuses);
  });
}

/** A plan to the letter of the contract (DESIGN 8, `plan --json`); `problems` only when the scan failed. */
function planJson(run: Run, actions: readonly Action[]): object {
  return {
    planId: String(run.id),
    connection: run.connection,
    actions: actions.map((action) => ({
      id: String(action.id),
      kind: action.kind,
      ...(action.leadId !== null && { leadId: action.leadId }),
      ...(action.row !== null && { row: action.row }),
      changes: Object.fromEntries(
        Object.entries(action.changes).map(([field, { from, to }]) => [
          field,
          { from: plain(from), to: plain(to) },
        ]),
      ),
      reason:
        action.message === undefined || action.message === null
          ? action.reason
          : `${action.reason}: ${action.message}`,
    })),
    guard: { ok: run.refusals.length === 0, refusals: run.refusals },
    ...(run.status === 'failed' && { problems: (run.report as SyncReport).problems }),
  };
}

function plain(cell: Action['changes'][string]['from']): string | null {
  return typeof cell === 'object' && cell !== null ? cell.unreadable : cell;
}

/** Each change field by field, for people. */
export function describePlan(run: Run, actions: readonly Action[]): string {
  const lines = [
    `${run.connection}: plan ${run.id}: ${run.pulled} leads, ${run.targetRows} rows, ${actions.length} actions`,
  ];
  for (const action of actions) {
    const place = [action.row === null ? '' : `row ${action.row}`, action.leadId ?? '']
      .filter(Boolean)
      .join(', ');
    lines.push(`  ${action.kind.padEnd(12)} ${place}  (${action.reason})`);
    for (const [field, { from, to }] of Object.entries(action.changes)) {
      const sign = action.kind === 'hold' ? 'lead/row' : 'change';
      lines.push(
        `    ${sign === 'change' ? '' : 'lead '}${field}: ${showCell(from)} ${sign === 'change' ? '→' : '| row'} ${showCell(to)}`,
      );
    }
  }
  if (actions.length === 0) lines.push('  nothing to do');
  for (const refusal of run.refusals)
    lines.push(`  the guard would stop this: ${refusal.message} [${refusal.code}]`);
  if (run.status === 'failed') {
    for (const { code, message } of (run.report as SyncReport).problems)
      lines.push(`  ! ${message} [${code}]`);
  }
  lines.push('  nothing was written');
  return lines.join('\n');
}
