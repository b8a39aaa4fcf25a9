import type pg from 'pg';
import { counted } from '../core/lead/counted.ts';
import { headingOf } from '../core/lead/mapping.ts';
import { fieldJson, leadCells } from '../core/lead/lead.ts';
import { type Cell, sameButSpelling, sameCell, showCell } from '../core/lead/value.ts';
import type { Change } from '../core/merge/action.ts';
import type { Refusal } from '../core/merge/guard.ts';
import { judgeEdit, type CalendarEdits, isWholeCalendar } from '../core/merge/requested-edit.ts';
import { LeadsyncError, withoutStop } from '../errors.ts';
import { type Action, recordOutcomes } from '../store/actions.ts';
import { forgetWrites, recordHistory } from '../store/history.ts';
import {
  type EditOutcome,
  recordEditOutcome,
  calendarEdits,
  holdCalendar,
  planEdits,
} from '../store/requested-edits.ts';
import { type Run, updateRun } from '../store/runs.ts';
import { inLeasedTransaction, type StepContext } from './context.ts';
import { type Pushing, sendPatch } from './update-lead.ts';

/**
 * Plans a run of requested edits, which has no scan: an action for each edit that is open. What looks like a calendar that was
 * emptied or shifted as a whole is held instead, and the run refuses it.
 */
export async function beginEdits(db: pg.PoolClient, run: Run): Promise<Run> {
  const refusals: Refusal[] = [];
  for (const person of await calendarEdits(db, run.connection)) {
    if (!isWholeCalendar(person)) continue;
    refusals.push({ code: 'edit.many', message: refusal(person, run.connection) });
    const note = `the calendar of ${person.requestedBy} changed ${counted(person.edits, 'follow-up')} at once; nothing was changed before somebody looks at it`;
    await holdCalendar(db, run, person.requestedBy, note);
  }
  await planEdits(db, run);
  return updateRun(db, run.id, { phase: 'push-leads', refusals });
}

function refusal({ requestedBy, edits, followUps }: CalendarEdits, connection: string): string {
  return `the calendar of ${requestedBy} changed ${edits} of ${counted(followUps, 'follow-up')} within an hour, as if it had been emptied or shifted as a whole. They are held, and no lead was changed. leadsync resolve --requested-by ${requestedBy} --connection ${connection} --use requested carries them out; --use lead gives them up`;
}

const gone: EditOutcome = { state: 'failed', note: 'the lead is not there any more' };

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
  if (before === null) return commitEdit(context, run, action, gone);
  const heading = headingOf(connection.fields, field);
  const shown = leadCells(before, connection.fields)[field] ?? null;
  const verdict = judgeEdit(change, shown, action.attempts > 0);
  if (verdict === 'conflict')
    return commitEdit(context, run, action, conflictOf(heading, change, shown, action.attempts > 0));
  if (verdict === 'applied')
    return commitEdit(context, run, action, { state: 'applied' }, { [field]: { ...change, to: shown } });
  if (verdict === 'unchanged') return commitEdit(context, run, action, { state: 'unchanged' }, {});

  const json =
    typeof change.to === 'object' && change.to !== null
      ? undefined
      : fieldJson(change.to, before.fields[field]);
  const reply =
    json === undefined
      ? new LeadsyncError(
          'leads.rejected',
          `${showCell(change.to)} does not fit the type of the lead's ${heading}`,
        )
      : await sendPatch(context, action, { [field]: json }, pushing);
  if (reply instanceof LeadsyncError)
    return commitEdit(context, run, action, {
      state: 'failed',
      note: refusedNote(heading, change, reply.message),
      shown,
    });
  const after = await leads.get(leadId, cut, 'write');
  if (after === null) return commitEdit(context, run, action, gone);
  const stored = leadCells(after, connection.fields)[field] ?? null;
  const written = { [field]: { ...change, to: stored } };
  if (sameButSpelling(stored, change.to))
    return commitEdit(context, run, action, { state: 'applied' }, written);
  const note = refusedNote(heading, change, `it accepted the request, but has ${showCell(stored)}`);
  const isLost = sameCell(stored, shown);
  const outcome = { state: isLost ? 'failed' : 'conflict', note, shown: stored } as const;
  return commitEdit(context, run, action, outcome, isLost ? {} : written);
}

function conflictOf(heading: string, { from, to }: Change, shown: Cell, wasTried: boolean): EditOutcome {
  const effect = wasTried ? 'whether it showed the new one in between is not known' : 'nothing was changed';
  const note = `${heading} was to become ${showCell(to)} in place of ${showCell(from)}, but the lead shows another value by now; ${effect}`;
  return { state: 'conflict', note, shown };
}

function refusedNote(heading: string, { to }: Change, why: string): string {
  return `the service did not take ${heading} = ${showCell(to)}: ${withoutStop(why)}`;
}

/**
 * Stores the outcome of an edit, its action and its line of the history, together. `written`: what came about; absent: the line
 * of an earlier attempt stays, which may have overwritten what it says.
 */
function commitEdit(
  context: StepContext,
  run: Run,
  { id, leadId, attempts }: Action,
  outcome: EditOutcome,
  written?: Action['changes'],
): Promise<void> {
  const isDone = outcome.state === 'applied' || outcome.state === 'unchanged';
  const ofAction = isDone
    ? ({ actionId: id, state: 'done' } as const)
    : ({ actionId: id, state: 'held', code: `edit.${outcome.state}`, message: outcome.note ?? '' } as const);
  return inLeasedTransaction(context, async (db) => {
    await recordOutcomes(db, [ofAction]);
    if (written !== undefined)
      await recordHistory(db, run, [{ actionId: id, leadId: leadId ?? '', side: 'lead', changes: written }]);
    else if (attempts === 0) await forgetWrites(db, [id]);
    await recordEditOutcome(db, id, outcome);
  });
}
