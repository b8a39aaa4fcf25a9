import { setTimeout as sleep } from 'node:timers/promises';
import { LeadsyncError } from '../errors.ts';
import type { ActionKind } from '../merge/action.ts';
import { type Action, settleActions } from '../store/actions.ts';
import {
  claimActions,
  countTry,
  holdRemaining,
  isAnyPlanned,
  putOffInARow,
  putOffRemaining,
  uncountTry,
} from '../store/claims.ts';
import { type Run, updateRun } from '../store/runs.ts';
import { holding, type StepContext } from './context.ts';
import { createLead } from './create-lead.ts';
import { deleteLead, proveLeadGone } from './delete-lead.ts';
import { recordBefore, updateLead } from './update-lead.ts';

/** Attempts at one action before the run goes on without it. */
const triesPerAction = 3;

/** Actions in a row that fail so, before the fault is taken for the service's and the rest is put off. */
const faultsThatTell = 3;

/** Faults of one item alone, and faults that may be the service's. */
const itemCodes: readonly string[] = ['leads.rejected', 'leads.too-large'];
const faultCodes: readonly string[] = ['leads.unavailable', 'leads.unreachable', 'leads.not-json'];

/** Actions that a process claims at once. With more than these it asks others for help. */
const claimSize = 20;

/** How often (ms) it is looked whether the others have settled what they claimed. */
const lookAgainMs = 100;

const leadKinds: readonly ActionKind[] = ['update-lead', 'create-lead', 'delete-lead', 'unlink'];

/** Kinds that need the service: its writes, and the proof that a lead is gone before its row is touched. */
function kindsOf({ undoOf }: Run): readonly ActionKind[] {
  // The mark or the row that an undo takes away was made by a run: there is no deletion to prove.
  return undoOf === null ? [...leadKinds, 'mark-row', 'remove-row'] : leadKinds;
}

/**
 * Carries out what concerns the service. Other processes may share the work; the phase is over when all of it is
 * settled, also what they claimed.
 */
export async function pushLeads(context: StepContext, run: Run): Promise<Run> {
  await pushShare(context, run, { onMany: () => context.askForHelp?.(run) });
  while (await isAnyPlanned(context.pool, run, kindsOf(run))) {
    await sleep(lookAgainMs, undefined, { signal: context.stop });
    await pushShare(context, run);
  }
  return holding(context, (db) => updateRun(db, run.id, { phase: 'push-rows' }));
}

interface Sharing {
  /** Called when the first claim shows that there are many. */
  readonly onMany?: () => Promise<void> | undefined;
  /** Asked before each claim; false ends the work. */
  readonly mayClaim?: () => Promise<boolean>;
}

/**
 * Carries out actions that no other process has claimed until there are none, one after the other: each is verified,
 * written, read back and committed before the next one begins.
 */
export async function pushShare(
  context: StepContext,
  run: Run,
  { onMany, mayClaim }: Sharing = {},
): Promise<void> {
  let after = 0;
  for (;;) {
    context.stop.throwIfAborted();
    if ((await mayClaim?.()) === false) return;
    const actions = await holding(context, (db) =>
      claimActions(db, run, kindsOf(run), context.lease.token, claimSize, after),
    );
    // Those of a process that died were passed over while it was alive.
    if (actions.length === 0 && after === 0) return;
    if (actions.length === claimSize && after === 0) await onMany?.();
    after = 0;
    for (const action of actions) {
      context.stop.throwIfAborted();
      after = action.id;
      await attempt(context, run, action);
    }
  }
}

async function attempt(context: StepContext, run: Run, action: Action): Promise<void> {
  const { token } = context.lease;
  const tries = await holding(context, async (db) => {
    const counted = await countTry(db, action.id, token);
    if (counted !== null && action.kind === 'update-lead') await recordBefore(db, run, action);
    return counted;
  });
  if (tries === null) return;
  const { requests } = context.leads;
  try {
    await carryOut(context, run, action);
  } catch (error) {
    if (!(error instanceof LeadsyncError)) throw error;
    // Put off for the pace, or for a pause that another process was asked for.
    if (error.code === 'leads.rate-limited' && context.leads.requests === requests)
      await holding(context, (db) => uncountTry(db, action.id, token));
    if (error.code === 'leads.forbidden') return forbid(context, run, action, error);
    const itemsFault = itemCodes.includes(error.code);
    if (!itemsFault && (!faultCodes.includes(error.code) || tries < triesPerAction)) throw error;
    await putOffFaulty(context, run, action, error);
  }
}

/**
 * The service does not answer for this item: the others go on. When it did not answer for several in a row, it is not
 * the items: all that needs it is left to the next run, and the target still gets what is its own.
 */
async function putOffFaulty(
  context: StepContext,
  run: Run,
  action: Action,
  error: LeadsyncError,
): Promise<void> {
  const { code, message } = error;
  const { token } = context.lease;
  const kinds = kindsOf(run);
  await holding(context, async (db) => {
    // The run's row before many actions, as helpers take it (see share-push.ts): else two could wait for each other.
    await updateRun(db, run.id, { tries: 0 });
    await settleActions(db, [{ actionId: action.id, state: 'put-off', code, message }]);
    if ((await putOffInARow(db, run, kinds, faultCodes)) >= faultsThatTell) {
      await putOffRemaining(db, run, kinds, token, {
        code,
        message: 'the service failed for several items before this one; it was not tried',
      });
    }
  });
}

async function carryOut(context: StepContext, run: Run, action: Action): Promise<void> {
  switch (action.kind) {
    case 'update-lead':
      return updateLead(context, run, action);
    case 'create-lead':
      return createLead(context, run, action);
    case 'delete-lead':
      return deleteLead(context, run, action);
    default:
      return proveLeadGone(context, run, action);
  }
}

/** The key may not do this: everything of the kind waits for another key, the rest of the run goes on. */
async function forbid(context: StepContext, run: Run, action: Action, error: LeadsyncError): Promise<void> {
  context.log.warn({ run: run.id, kind: action.kind, code: error.code }, error.message);
  await holding(context, async (db) => {
    await holdRemaining(db, run, action.kind, context.lease.token, error);
  });
}
