import { LeadsyncError, withoutStop } from '../errors.ts';
import { fieldJson, leadCells } from '../core/lead/lead.ts';
import { type Cell, sameButSpelling, sameCell, showCell } from '../core/lead/value.ts';
import type { Change } from '../core/merge/action.ts';
import { judgeEdit } from '../core/merge/requested-edit.ts';
import { type Action, recordOutcomes } from '../store/actions.ts';
import { forgetWrites, recordHistory } from '../store/history.ts';
import { type EditFate, settleEdit } from '../store/requested-edits.ts';
import type { Run } from '../store/runs.ts';
import { inLeasedTransaction, type StepContext } from './context.ts';
import { type Pushing, sendPatch } from './update-lead.ts';

const gone: EditFate = { state: 'failed', note: 'the lead is not there any more' };

/**
 * Carries out one requested edit: reads the lead, writes the value only over the one that the person saw, and reads back what
 * is stored. No baseline moves: the next sync takes the value as any other edit made in the service. Throws when the service
 * fails; the edit then stays open.
 */
export async function carryOutEdit(
  context: StepContext,
  run: Run,
  action: Action,
  pushing: Pushing,
): Promise<void> {
  const { leads, connection, cut } = context;
  const leadId = action.leadId ?? '';
  const [field, change] = Object.entries(action.changes)[0] ?? [];
  if (field === undefined || change === undefined) throw new Error('an edit without a field');
  const before = await leads.get(leadId, cut);
  if (before === null) return settle(context, run, action, gone);
  const shown = leadCells(before, connection.fields)[field] ?? null;
  const verdict = judgeEdit(change, shown, action.attempts > 0);
  if (verdict === 'conflict')
    return settle(context, run, action, conflictOf(field, change, shown, action.attempts > 0));
  if (verdict === 'applied')
    return settle(context, run, action, { state: 'applied' }, { [field]: { ...change, to: shown } });
  if (verdict === 'unchanged') return settle(context, run, action, { state: 'unchanged' }, {});

  const json =
    typeof change.to === 'object' && change.to !== null
      ? undefined
      : fieldJson(change.to, before.fields[field]);
  const reply =
    json === undefined
      ? new LeadsyncError(
          'leads.rejected',
          `${showCell(change.to)} does not fit the type of the lead's ${field}`,
        )
      : await sendPatch(context, action, { [field]: json }, pushing);
  if (reply instanceof LeadsyncError)
    return settle(context, run, action, {
      state: 'failed',
      note: refusedNote(field, change, reply.message),
      shown,
    });
  const after = await leads.get(leadId, cut, 'write');
  if (after === null) return settle(context, run, action, gone);
  const stored = leadCells(after, connection.fields)[field] ?? null;
  const written = { [field]: { ...change, to: stored } };
  if (sameButSpelling(stored, change.to)) return settle(context, run, action, { state: 'applied' }, written);
  const note = refusedNote(field, change, `it accepted the request, but has ${showCell(stored)}`);
  const isLost = sameCell(stored, shown);
  const fate = { state: isLost ? 'failed' : 'conflict', note, shown: stored } as const;
  return settle(context, run, action, fate, isLost ? {} : written);
}

function conflictOf(field: string, { from, to }: Change, shown: Cell, wasTried: boolean): EditFate {
  const fate = wasTried ? 'whether it showed the new one in between is not known' : 'nothing was changed';
  const note = `${field} was to become ${showCell(to)} in place of ${showCell(from)}, but the lead shows another value by now; ${fate}`;
  return { state: 'conflict', note, shown };
}

function refusedNote(field: string, { to }: Change, why: string): string {
  return `${field} = ${showCell(to)} was not taken by the service: ${withoutStop(why)}`;
}

/**
 * Stores the outcome of an edit, its action and its line of the history, together. `written`: what came about; absent: the line
 * of an earlier attempt stays, which may have overwritten what it says.
 */
function settle(
  context: StepContext,
  run: Run,
  { id, leadId, attempts }: Action,
  fate: EditFate,
  written?: Action['changes'],
): Promise<void> {
  const isDone = fate.state === 'applied' || fate.state === 'unchanged';
  const outcome = isDone
    ? ({ actionId: id, state: 'done' } as const)
    : ({ actionId: id, state: 'held', code: `edit.${fate.state}`, message: fate.note ?? '' } as const);
  return inLeasedTransaction(context, async (db) => {
    await recordOutcomes(db, [outcome]);
    if (written !== undefined)
      await recordHistory(db, run, [{ actionId: id, leadId: leadId ?? '', side: 'lead', changes: written }]);
    else if (attempts === 0) await forgetWrites(db, [id]);
    await settleEdit(db, id, fate);
  });
}
