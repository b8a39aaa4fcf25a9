import { LeadsyncError } from '../errors.ts';
import type { ActionKind } from '../merge/action.ts';
import { type Action, countTry, holdRemaining, pendingActions, settleActions } from '../store/actions.ts';
import { transaction } from '../store/database.ts';
import { type Run, updateRun } from '../store/runs.ts';
import type { StepContext } from './context.ts';
import { createLead } from './create-lead.ts';
import { deleteLead, proveLeadGone } from './delete-lead.ts';
import { updateLead } from './update-lead.ts';

/** Attempts at one action before the run goes on without it. */
const triesPerAction = 3;

const pageSize = 100;

/** Kinds that need the service: its writes, and the proof that a lead is gone before its row is touched. */
const kinds: readonly ActionKind[] = ['update-lead', 'create-lead', 'delete-lead', 'mark-row', 'remove-row'];

/**
 * Carries out what concerns the service, one action after the other: each is verified, written, read back and
 * committed before the next one begins.
 */
export async function pushLeads(context: StepContext, run: Run): Promise<Run> {
  let after = 0;
  for (;;) {
    const actions = await pendingActions(context.pool, run, kinds, pageSize, after);
    if (actions.length === 0) return updateRun(context.pool, run.id, { phase: 'push-rows' });
    for (const action of actions) {
      context.stop.throwIfAborted();
      after = action.id;
      if (action.state === 'planned') await attempt(context, run, action);
    }
  }
}

async function attempt(context: StepContext, run: Run, action: Action): Promise<void> {
  const tries = await transaction(context.pool, async (db) => {
    await context.lease.assertHeld(db);
    return countTry(db, action.id);
  });
  try {
    await carryOut(context, run, action);
  } catch (error) {
    if (!(error instanceof LeadsyncError)) throw error;
    if (error.code === 'leads.forbidden') return forbid(context, run, action, error);
    if (error.retry !== 'now' || tries < triesPerAction) throw error;
    await settleActions(context.pool, [
      {
        actionId: action.id,
        state: 'put-off',
        code: error.code,
        message: `${error.message} (${tries} attempts)`,
      },
    ]);
  }
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
  await transaction(context.pool, async (db) => {
    await context.lease.assertHeld(db);
    await holdRemaining(db, run, action.kind, error.code, error.message);
  });
}
