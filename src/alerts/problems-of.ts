import type { ConnectionFacts, FailedRun } from '../store/alert-facts.ts';
import type { AlertKind, AlertProblem } from '../store/alerts.ts';
import type { Pulse } from '../store/pulses.ts';

/** So many held items are a problem, and again each time that they are twice as many. */
export const heldThreshold = 10;

/** A heartbeat that cannot be called is a problem after so long (ms): a short outage of the network is none. */
export const heartbeatGraceMs = 15 * 60_000;

/** A run that is given up because a newer one takes its place: that one decides. */
const ignoredCode = 'run.abandoned';

/** Faults of credentials: the same try fails until a person has put them right. */
export const keyCodes: ReadonlySet<string> = new Set([
  'leads.unauthenticated',
  'leads.bad-key',
  'target.unauthenticated',
  'target.credentials-missing',
  'target.credentials-invalid',
]);

/**
 * What is wrong with a connection in which a sync has to have succeeded since `successDueSince` (epoch ms). Pure. A sync that failed, was stopped or whose key was rejected stays a problem until
 * one is carried out; each of the three kinds is one problem, however often it comes.
 */
export function problemsOf(facts: ConnectionFacts, successDueSince: number): readonly AlertProblem[] {
  const problems: AlertProblem[] = [];
  const add = (kind: AlertKind, detail: AlertProblem['detail'], level = 0): void => {
    problems.push({ kind, level, detail });
  };
  const newest = new Map<AlertKind, FailedRun>();
  for (const failure of facts.failures) {
    const kind = alertKindOf(failure);
    if (failure.code !== ignoredCode && !newest.has(kind)) newest.set(kind, failure);
  }
  for (const [kind, { runId, code, message }] of newest) add(kind, { runId, code, message });
  if (isSuccessOverdue(facts, successDueSince)) add('no-success', { since: facts.lastSuccess?.at ?? null });
  if (facts.held >= heldThreshold) {
    add('held-growing', { count: facts.held }, Math.floor(Math.log2(facts.held / heldThreshold)));
  }
  const { failed, missed, late } = facts.mails;
  if (failed + missed + late > 0) add('reminders-failing', { count: failed, missed, late });
  return problems;
}

/** What is wrong with a heartbeat at `now` (epoch ms). Pure. */
export function pulseProblems(pulse: Pulse | null, now: number): readonly AlertProblem[] {
  const { failingSince = null, fault = null } = pulse ?? {};
  if (failingSince === null || now - failingSince < heartbeatGraceMs) return [];
  const detail = { since: failingSince, ...(fault !== null && { message: fault }) };
  return [{ kind: 'heartbeat-failing', level: 0, detail }];
}

/** Whether no sync has succeeded for too long, counted at the earliest from when the connection is watched. */
export function isSuccessOverdue(
  { lastSuccess, watchedSince }: Pick<ConnectionFacts, 'lastSuccess' | 'watchedSince'>,
  successDueSince: number,
): boolean {
  return Math.max(lastSuccess?.at ?? 0, watchedSince) < successDueSince;
}

/** What kind of problem a sync is that was not carried out. */
export function alertKindOf({ status, code }: Pick<FailedRun, 'status' | 'code'>): AlertKind {
  if (status === 'stopped') return 'guard-stop';
  return keyCodes.has(code) ? 'key-rejected' : 'run-failed';
}
