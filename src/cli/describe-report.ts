import { waysPast } from '../merge/older-copy.ts';
import type { AppliedPlan, SyncReport } from '../sync/report.ts';
import { describeProblem } from './output.ts';

/** Those that text lists one by one. */
export const problemsShown = 20;

/** The command that syncs the same connection. */
export const syncCommand = ({ connection }: SyncReport): string => `leadsync sync --connection ${connection}`;

/** What overrides these refusals of the guard. */
export function allowed(codes: readonly string[]): readonly string[] {
  return codes.map((code) => `--allow ${code}`);
}

/** A report for people: what was done, what was not, and what helps. `command`: the one that made it. */
export function describeReport(report: SyncReport, command = syncCommand(report)): string {
  const { created, updated, deleted } = report;
  const lines = [
    `${report.connection}: ${report.status} (run ${report.runId}, ${(report.durationMs / 1000).toFixed(1)} s)`,
    `  read     ${report.pulled} leads, ${report.targetRows} rows`,
    `  created  ${created.leads} leads, ${created.rows} rows`,
    `  updated  ${updated.leads} leads, ${updated.rows} rows`,
    `  deleted  ${deleted.leads} leads, ${deleted.rows} rows`,
    `  held     ${report.held}${report.held > 0 ? '   (leadsync conflicts lists them)' : ''}`,
    `  put off  ${report.putOff}${report.putOff > 0 ? `   (${whoLooksAgain(report)} looks again)` : ''}`,
  ];
  // A run of an older version has none.
  if ('receipt' in report) lines.push(`  receipt  ${describeReceipt(report)}`);
  if (report.plan !== undefined) lines.push(`  plan     ${describeApplied(report.plan)}`);
  if (report.waitedMs > 0) lines.push(`  waited   ${(report.waitedMs / 1000).toFixed(1)} s`);
  for (const problem of report.problems.slice(0, problemsShown))
    lines.push(`  ! ${describeProblem(problem)}`);
  const more = report.problems.length - problemsShown;
  if (more > 0) lines.push(`  ! and ${more} more (--json lists them)`);
  const guards = report.problems.flatMap(({ code }) =>
    code.startsWith('guard.') ? [code.slice('guard.'.length)] : [],
  );
  if (report.status === 'stopped') {
    // Those with several ways out have named them.
    const options = allowed(guards.filter((code) => !code.startsWith('target.') && !(code in waysPast)));
    lines.push('  nothing was written to either side. leadsync plan shows what would be done');
    if (options.length > 0) lines.push(`  if that is what you want: ${[command, ...options].join(' ')}`);
  }
  return lines.join('\n');
}

function whoLooksAgain({ undoOf }: SyncReport): string {
  return undoOf === undefined ? 'the next sync' : `leadsync undo ${undoOf}`;
}

/** What was written was read again: how many records are as they should be. */
function describeReceipt({ receipt, undoOf }: SyncReport): string {
  const { records, equal, held, putOff, left, unexplained } = receipt;
  const whole = undoOf === undefined ? 'records equal on both sides' : 'writes put back';
  const parts = [
    `${equal} of ${records} ${whole}`,
    held > 0 && `${held} held`,
    putOff > 0 && `${putOff} put off`,
    left > 0 && `${left} left as they are`,
    unexplained > 0 && `${unexplained} do not show what was written`,
  ];
  return parts.filter(Boolean).join(', ');
}

function describeApplied({ lines, done, doneBefore, stale }: AppliedPlan): string {
  const parts = [
    `${done} of ${lines} lines carried out`,
    doneBefore > 0 && `${doneBefore} were before`,
    stale > 0 && `${stale} refused`,
  ];
  return parts.filter(Boolean).join(', ');
}
