import type { Logger } from 'pino';
import { describeAlert } from '../alerts/describe-alert.ts';
import { alertKindOf } from '../alerts/problems-of.ts';
import type { Run } from '../store/runs.ts';
import type { OnRun } from '../sync/context.ts';
import type { SyncReport } from '../sync/report.ts';

/**
 * Logs two lines for each run: its start and its end, which warns, with the reason and what helps, unless all was done. Counts
 * and codes alone: nothing of single leads and rows.
 */
export const logRun: OnRun = (log, run) => {
  const about = { run: run.id, mode: run.mode };
  const what = nameOf(run);
  if (run.status === 'running') log.info(about, `${what} begins`);
  else logEnd(log, about, what, run.report as SyncReport);
};

function logEnd(log: Logger, about: object, what: string, report: SyncReport): void {
  const { status, pulled, targetRows, created, updated, deleted, held, putOff, requests } = report;
  const { waitedMs, durationMs } = report;
  const counts = { pulled, targetRows, created, updated, deleted, held, putOff, requests };
  const fields = { ...about, status, ...counts, waitedMs, durationMs };
  if (status === 'succeeded') return log.info(fields, `${what} succeeded`);
  const troubles: Record<string, number> = {};
  for (const { code } of report.problems) troubles[code] = (troubles[code] ?? 0) + 1;
  const { why, reason, help } = status === 'partial' ? partly(report) : notDone(report, status);
  log.warn({ ...fields, troubles, reason, help }, `${what} ${ending[status]}: ${why}`);
}

const ending = { partial: 'was carried out in part', stopped: 'was stopped', failed: 'failed' } as const;

/** `why`: a word or two. */
type Advice = Readonly<Record<'why' | 'reason' | 'help', string>>;

function partly({ connection, held, putOff, problems }: SyncReport): Advice {
  const reasons = [
    held > 0 && `${held} held`,
    putOff > 0 && `${putOff} put off`,
    held + putOff === 0 && `${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}`,
  ];
  const help = [
    held > 0 && `leadsync conflicts --connection ${connection} lists what is held`,
    (held === 0 || putOff > 0) &&
      `leadsync status --connection ${connection} shows what was left; the next sync tries it again`,
  ];
  const reason = reasons.filter(Boolean).join(', ');
  return { why: reason, reason, help: help.filter(Boolean).join('; ') };
}

/** The advice of the alert about it. */
function notDone({ connection, runId, problems }: SyncReport, status: 'stopped' | 'failed'): Advice {
  const [first] = problems;
  const code = first?.code ?? 'internal';
  const isOfRun = first !== undefined && first.leadId === undefined && first.row === undefined;
  const detail = { code, runId: Number(runId) };
  const kind = alertKindOf({ status, code });
  const alert = { event: 'raised', connection, kind, detail, raisedAt: 0, clearedAt: null } as const;
  const { help } = describeAlert(alert);
  return {
    why: code,
    reason: isOfRun ? first.message : code,
    help: help.map(([command, does]) => `${command} ${does}`).join('; '),
  };
}

function nameOf({ mode, undoOf, approval }: Run): string {
  if (undoOf !== null) return `${mode === 'plan' ? 'a plan of ' : ''}the undo of run ${undoOf}`;
  if (mode === 'edit') return 'a run of requested edits';
  return approval === null ? `a ${mode}` : 'a reviewed plan';
}
