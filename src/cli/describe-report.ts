import type pg from 'pg';
import type { ConnectionConfig } from '../config/config.ts';
import { count, counted } from '../core/lead/counted.ts';
import { shownDates } from '../core/lead/shown-date.ts';
import { waysPast } from '../core/merge/older-copy.ts';
import { describeVerification } from '../ops/describe-progress.ts';
import type { AppliedPlan, SyncReport } from '../sync/report.ts';
import { companiesIn } from './companies.ts';
import type { Companies } from './names.ts';
import { describeProblem, seconds } from './output.ts';

type Fields = ConnectionConfig['fields'];

const problemsShown = 20;

export const syncCommand = ({ connection }: SyncReport): string => `leadsync sync --connection ${connection}`;

export function allowed(codes: readonly string[]): readonly string[] {
  return codes.map((code) => `--allow ${code}`);
}

export async function tellReport(
  pool: pg.Pool,
  report: SyncReport,
  { fields, timeZone }: Pick<ConnectionConfig, 'fields' | 'timeZone'>,
  command?: string,
): Promise<string> {
  const shown = report.problems.slice(0, problemsShown);
  const companies = await companiesIn(pool, report.connection, shown);
  return shownDates(describeReport(report, companies, fields, command), timeZone);
}

/** Omits zeros. */
export function describeReport(
  report: SyncReport,
  companies: Companies,
  fields: Fields = [],
  command = syncCommand(report),
): string {
  const { status, runId, held, putOff, waitedMs } = report;
  const took = `(${runId === '' ? '' : `run ${runId}, `}${seconds(report.durationMs)})`;
  const written = describeWritten(report);
  // Empty in a run that stopped early.
  const receipt = report.receipt.records > 0 ? describeVerification(report) : '';
  if (status === 'succeeded' && written.length + report.problems.length === 0 && report.plan === undefined) {
    const more = waitedMs > 0 ? `, waited ${seconds(waitedMs)}` : '';
    return `${report.connection}: nothing to change${receipt && `: ${receipt}`} ${took}${more}`;
  }
  const said = describeProblems(report.problems, companies, fields);
  const isUntouched = status === 'stopped' && written.length === 0;
  const lines = [
    `${report.connection}: ${status}${isUntouched ? ', nothing was written to either side' : ''} ${took}`,
    ...(status === 'stopped' ? said : []),
  ];
  if (report.pulled + report.targetRows > 0)
    lines.push(`  read     ${counted(report.pulled, 'lead')}, ${counted(report.targetRows, 'row')}`);
  lines.push(...written);
  // What was put off may include writes with unknown outcome.
  if (written.length + putOff === 0 && status === 'partial') lines.push('  written  nothing');
  if (held > 0) lines.push(`  held     ${count(held)}   (leadsync conflicts lists them)`);
  if (putOff > 0) lines.push(`  put off  ${count(putOff)}   (${whoLooksAgain(report)} looks again)`);
  const isUnseen = report.problems.some(({ code }) => code.endsWith('.column-missing'));
  const unseen = isUnseen ? ' (none is, while a column is missing)' : '';
  if (receipt !== '') lines.push(`  receipt  ${receipt}${unseen}`);
  if (report.plan !== undefined) lines.push(`  plan     ${describeApplied(report.plan)}`);
  if (waitedMs > 0) lines.push(`  waited   ${seconds(waitedMs)}`);
  if (status !== 'stopped') lines.push(...said);
  else lines.push(...howToGoOn(report, command));
  return lines.join('\n');
}

export function describeProblems(
  problems: SyncReport['problems'],
  companies: Companies,
  fields: Fields,
): readonly string[] {
  const more = problems.length - problemsShown;
  return [
    ...problems
      .slice(0, problemsShown)
      .map((problem) => `  ! ${describeProblem(problem, companies.get(problem.leadId ?? ''), fields)}`),
    ...(more > 0 ? [`  ! and ${more} more (--json lists them)`] : []),
  ];
}

function describeWritten({ created, updated, deleted }: SyncReport): readonly string[] {
  return Object.entries({ created, updated, deleted }).flatMap(([deed, { leads, rows }]) => {
    const parts = [leads > 0 && counted(leads, 'lead'), rows > 0 && counted(rows, 'row')].filter(Boolean);
    return parts.length === 0 ? [] : [`  ${deed}  ${parts.join(', ')}`];
  });
}

/** Other stops name their own ways out. */
function howToGoOn({ problems }: SyncReport, command: string): readonly string[] {
  const guards = problems.flatMap(({ code }) =>
    code.startsWith('guard.') ? [code.slice('guard.'.length)] : [],
  );
  if (guards.length === 0) return [];
  // Refusals with several ways out have named them.
  const options = allowed(guards.filter((code) => !code.startsWith('target.') && !(code in waysPast)));
  return [
    '  leadsync plan shows what would be done',
    ...(options.length > 0 ? [`  if that is what you want: ${[command, ...options].join(' ')}`] : []),
  ];
}

function whoLooksAgain({ undoOf }: SyncReport): string {
  return undoOf === undefined ? 'the next sync' : `leadsync undo ${undoOf}`;
}

function describeApplied({ lines, done, doneBefore, stale }: AppliedPlan): string {
  const parts = [
    `${count(done)} of ${counted(lines, 'line')} carried out`,
    doneBefore > 0 && `${doneBefore} ${doneBefore === 1 ? 'was' : 'were'} before`,
    stale > 0 && `${stale} refused`,
  ];
  return parts.filter(Boolean).join(', ');
}
