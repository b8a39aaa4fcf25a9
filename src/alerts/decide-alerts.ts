import type { AlertChange, AlertKind, AlertProblem, OpenAlert } from '../store/alerts.ts';

/** A problem is over when it has stayed away for so long (ms): one that comes and goes is told once. */
export const settleMs = 15 * 60_000;

/** Problems that are the reason for a missing success, which is then not told as well. */
const reasons: ReadonlySet<AlertKind> = new Set(['run-failed', 'guard-stop', 'key-rejected']);

/**
 * What is to be told and remembered of one connection at `now` (epoch ms), by what was told so far and what is wrong.
 * Pure. A problem is raised when it is seen first, told again when it has grown, and over after it has stayed away.
 */
export function decideAlerts(
  open: readonly OpenAlert[],
  problems: readonly AlertProblem[],
  now: number,
): readonly AlertChange[] {
  const known = new Map(open.map((alert) => [alert.kind, alert]));
  const seen = new Map(problems.map((problem) => [problem.kind, problem]));
  const hasReason = problems.some(({ kind }) => reasons.has(kind));
  return [
    ...problems
      .filter(({ kind }) => !known.has(kind) && !(kind === 'no-success' && hasReason))
      .map((problem) => ({ event: 'raised', problem }) as const),
    ...open.flatMap((alert) => changeOf(alert, seen.get(alert.kind), now)),
  ];
}

function changeOf(
  { id, level, clearedAt }: OpenAlert,
  problem: AlertProblem | undefined,
  now: number,
): readonly AlertChange[] {
  if (problem !== undefined) {
    if (problem.level > level) return [{ event: 'grown', id, problem }];
    return clearedAt === null ? [] : [{ event: 'returned', id }];
  }
  if (clearedAt === null) return [{ event: 'cleared', id }];
  return now - clearedAt >= settleMs ? [{ event: 'over', id }] : [];
}
