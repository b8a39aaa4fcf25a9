import { putsBack } from '../core/merge/undo.ts';
import { type ActionCount, countActions } from '../store/actions.ts';
import type { Run } from '../store/runs.ts';
import type { StepContext } from './context.ts';
import type { Outlook } from '../ports/leads-service.ts';
import { repliesToCheck } from './update-lead.ts';

/** What the sync of a plan takes if it begins now and nothing changes. `targetRequests` null: not known beforehand. */
export interface Forecast {
  readonly leadRequests: number;
  readonly targetRequests: number | null;
  /** The waits for the Leads service: its pauses, and the learned pace. */
  readonly waitMs: number;
  /** The waits included. */
  readonly durationMs: number;
  readonly finishAt: string;
}

/** The work of this process on a plan, without waits; another process may have begun the plan. */
export interface Work {
  readonly ms: number;
  /** How much of it the service took to answer. */
  readonly answerMs: number;
  readonly requests: number;
}

/** The input of a forecast; `now` is epoch ms. */
interface Basis {
  readonly run: Pick<Run, 'pages' | 'pageSize' | 'pulled'>;
  readonly work: Work;
  readonly actions: readonly Pick<ActionCount, 'kind' | 'reason' | 'count'>[];
  readonly outlook: Outlook;
  readonly isFile: boolean;
  readonly now: number;
}

/** The forecast of a plan that this work just made, alone with its key. */
export async function forecastSync(
  { pool, leads, connection, clock }: StepContext,
  run: Run,
  work: Work,
): Promise<Forecast> {
  return forecast({
    run,
    work,
    actions: await countActions(pool, run.id),
    outlook: await leads.outlook(),
    isFile: connection.target.type === 'workbook',
    now: clock.now(),
  });
}

/**
 * The sync scans and compares both sides like the plan, in the same time. Each further request takes as long as the service
 * took for one of the plan, or the gap of the pace, whichever is longer.
 */
export function forecast({ run, work, actions, outlook, isFile, now }: Basis): Forecast {
  // The plan may have learned that the service takes fewer leads a page.
  const scan = Math.max(run.pages, run.pageSize ? Math.ceil(run.pulled / run.pageSize) : 0);
  const updates = actions.reduce((sum, { kind, count }) => sum + (kind === 'update-lead' ? count : 0), 0);
  const pushes = actions.reduce(
    (sum, action) => sum + action.count * requestsFor(action),
    Math.min(updates, repliesToCheck),
  );
  const leadRequests = scan + pushes;
  const requestMs = work.answerMs / Math.max(1, work.requests);
  const planMs = Math.max(0, work.ms - work.answerMs) + requestMs * scan;
  const gapMs = outlook.perSecond === null ? 0 : 1000 / outlook.perSecond;
  const waitMs = Math.round(outlook.pauseMs + leadRequests * Math.max(0, gapMs - requestMs));
  const durationMs = Math.round(planMs + pushes * requestMs) + waitMs;
  return {
    leadRequests,
    targetRequests: isFile ? 0 : null,
    waitMs,
    durationMs,
    finishAt: new Date(now + durationMs).toISOString(),
  };
}

/**
 * The requests of one action, with its verification, to a service that shows the lead in replies to writes (the first
 * `repliesToCheck` updates are read again all the same). To other services a write takes one more, and an update two.
 */
function requestsFor(action: Pick<ActionCount, 'kind' | 'reason'>): number {
  switch (action.kind) {
    case 'delete-lead':
      return 3;
    case 'update-lead':
    case 'create-lead':
      return 2;
    case 'mark-row':
    case 'remove-row':
      // The proof that the lead is gone; see push-leads.ts.
      return putsBack(action) ? 0 : 1;
    case 'unlink':
      return putsBack(action) ? 1 : 0;
    default:
      return 0;
  }
}
