import type {
  AlertChange,
  AlertKind,
  AlertProblem,
  ConnectionFacts,
  FailedRun,
  OpenAlert,
} from '../store/alerts.ts';
import type { Heartbeat } from '../store/connections.ts';

/** From this number on held items are a problem, which grows each time that they double; a single one is after a day. */
export const heldThreshold = 10;

/** Ms after which a heartbeat that fails is a problem: a short outage of the network is none. */
export const heartbeatGraceMs = 15 * 60_000;

/** A newer run replaced this one: the outcome of the newer one counts. */
const ignoredCode = 'run.abandoned';

/** Faults of credentials: every sync fails until a person corrects them. */
export const keyCodes: ReadonlySet<string> = new Set([
  'leads.unauthenticated',
  'leads.bad-key',
  'target.unauthenticated',
  'target.credentials-missing',
  'target.credentials-invalid',
]);

/**
 * A sync that failed, was stopped or had its key rejected is a problem until a sync is carried out; each kind is one problem, however often it
 * comes. `successDueSince`: epoch ms. Pure.
 */
export function problemsOf(facts: ConnectionFacts, successDueSince: number): readonly AlertProblem[] {
  const problems: AlertProblem[] = [];
  const add = (kind: AlertKind, detail: AlertProblem['detail'], level = 0): void => {
    problems.push({ kind, level, detail });
  };
  const failures = facts.failures.filter(({ code }) => code !== ignoredCode);
  for (const [kind, [newest]] of Map.groupBy(failures, alertKindOf))
    if (newest) add(kind, { runId: newest.runId, code: newest.code, message: newest.message });
  if (isSuccessOverdue(facts, successDueSince)) add('no-success', { since: facts.lastSuccess?.at ?? null });
  const { held, heldLong } = facts;
  if (held >= heldThreshold)
    add('held-growing', { count: held }, 1 + Math.floor(Math.log2(held / heldThreshold)));
  else if (heldLong > 0) add('held-growing', { count: heldLong });
  const { failed, missed, late } = facts.mails;
  if (failed + missed + late > 0) add('reminders-failing', { count: failed, missed, late });
  return problems;
}

/** `now`: epoch ms. Pure. */
export function heartbeatProblems(heartbeat: Heartbeat | null, now: number): readonly AlertProblem[] {
  const { failingSince = null, fault = null } = heartbeat ?? {};
  if (failingSince === null || now - failingSince < heartbeatGraceMs) return [];
  const detail = { since: failingSince, ...(fault !== null && { message: fault }) };
  return [{ kind: 'heartbeat-failing', level: 0, detail }];
}

/** Counted at the earliest from the first check of the connection. */
export function isSuccessOverdue(
  { lastSuccess, watchedSince }: Pick<ConnectionFacts, 'lastSuccess' | 'watchedSince'>,
  successDueSince: number,
): boolean {
  return Math.max(lastSuccess?.at ?? 0, watchedSince) < successDueSince;
}

export function alertKindOf({ status, code }: Pick<FailedRun, 'status' | 'code'>): AlertKind {
  if (status === 'stopped') return 'guard-stop';
  return keyCodes.has(code) ? 'key-rejected' : 'run-failed';
}

/** Ms without the problem until it is over: an intermittent one raises one alert. */
export const clearedForMs = 15 * 60_000;

/** Problems that explain a missing success: `no-success` is then not raised as well. */
const reasons: ReadonlySet<AlertKind> = new Set(['run-failed', 'guard-stop', 'key-rejected']);

/** A problem is raised when it first appears, grown when its level rises, and over after it has stayed away. `now`: epoch ms. Pure. */
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
  return now - clearedAt >= clearedForMs ? [{ event: 'over', id }] : [];
}
