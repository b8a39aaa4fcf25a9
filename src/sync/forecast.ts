import { putsBack } from '../core/merge/put-back.ts';
import { type ActionCount, countActions } from '../store/actions.ts';
import type { Run } from '../store/runs.ts';
import type { StepContext } from './context.ts';
import type { Outlook } from '../ports/leads-service.ts';
import { repliesToCheck } from './update-lead.ts';

/**
 * What the sync of a plan takes when it begins now and nobody edits anything. Requests of a target that leadsync cannot
 * tell beforehand are null; of a file there are none.
 */
export interface Forecast {
  readonly leadRequests: number;
  readonly targetRequests: number | null;
  /** How long it waits for the Leads service: for a pause, and for the pace that was learned. */
  readonly waitMs: number;
  /** The waits included. */
  readonly durationMs: number;
  readonly finishAt: string;
}

/** What a process did of a plan, waits left out. It may have taken it up where another one had died. */
export interface Work {
  readonly ms: number;
  readonly requests: number;
}

/** What is forecast of; `now` is epoch ms. */
interface Basis {
  readonly run: Pick<Run, 'pages' | 'pageSize' | 'pulled' | 'refusals'>;
  readonly work: Work;
  readonly actions: readonly Pick<ActionCount, 'kind' | 'reason' | 'count'>[];
  readonly outlook: Outlook;
  readonly isFile: boolean;
  readonly now: number;
}

/** The forecast of a plan that was just made by this work, alone with the key. */
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
 * The plan has scanned both sides and compared them, as the sync will: that takes as long again. Each further request
 * takes what one of the plan took, or the gap of the pace, whichever is longer. What the guard refuses is not sent.
 */
export function forecast({ run, work, actions, outlook, isFile, now }: Basis): Forecast {
  // It may have learned on the way that the service takes fewer leads on a page.
  const scan = Math.max(run.pages, run.pageSize ? Math.ceil(run.pulled / run.pageSize) : 0);
  const pushed = run.refusals.length > 0 ? [] : actions;
  const updates = pushed.reduce((sum, { kind, count }) => sum + (kind === 'update-lead' ? count : 0), 0);
  const pushes = pushed.reduce(
    (sum, action) => sum + action.count * requestsFor(action),
    Math.min(updates, repliesToCheck),
  );
  const leadRequests = scan + pushes;
  const requestMs = work.ms / Math.max(1, work.requests);
  const planMs = work.requests === 0 ? work.ms : requestMs * scan;
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
 * The requests of one action, that of the receipt included, to a service that shows a lead in the reply to its write (of
 * the first updates `repliesToCheck` are read again all the same); to one that does not, each write takes one more to read it
 * back, and an update another one.
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
