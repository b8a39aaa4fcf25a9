import type pg from 'pg';
import { counted } from '../core/lead/wording.ts';
import { headingOf } from '../core/lead/mapping.ts';
import { fieldJson, leadCells } from '../core/lead/lead.ts';
import { type Cell, sameButSpelling, sameCell, showCell } from '../core/lead/value.ts';
import type { Change } from '../core/merge/action.ts';
import type { Refusal } from '../core/merge/guard.ts';
import { type CalendarEdits, isWholeCalendar, judgeEdit } from '../core/merge/requested-edit.ts';
import { LeadsyncError, withoutStop } from '../lib/errors.ts';
import type { Action } from '../store/actions.ts';
import { calendarEdits, type EditOutcome, holdCalendar, planEdits } from '../store/requested-edits.ts';
import { type Run, updateRun } from '../store/runs.ts';
import type { LeadResult } from './commit.ts';
import type { StepContext } from './context.ts';
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
  action: Action,
  pushing: Pushing,
): Promise<LeadResult> {
  const { leads, connection, cut } = context;
  const leadId = action.leadId ?? '';
  const [field, change] = Object.entries(action.changes)[0] ?? [];
  if (field === undefined || change === undefined) throw new Error('an edit without a field');
  const before = await leads.get(leadId, cut);
  if (before === null) return resultOf(action, gone);
  const heading = headingOf(connection.fields, field);
  const shown = leadCells(before, connection.fields)[field] ?? null;
  const verdict = judgeEdit(change, shown, action.attempts > 0);
  if (verdict === 'conflict')
    return resultOf(action, conflictOf(heading, change, shown, action.attempts > 0));
  if (verdict === 'applied')
    return resultOf(action, { state: 'applied' }, { [field]: { ...change, to: shown } });
  if (verdict === 'unchanged') return resultOf(action, { state: 'unchanged' }, {});

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
    return resultOf(action, {
      state: 'failed',
      note: refusedNote(heading, change, reply.message),
      shown,
    });
  const after = await leads.get(leadId, cut, 'write');
  if (after === null) return resultOf(action, gone);
  const stored = leadCells(after, connection.fields)[field] ?? null;
  const written = { [field]: { ...change, to: stored } };
  if (sameButSpelling(stored, change.to)) return resultOf(action, { state: 'applied' }, written);
  const note = refusedNote(heading, change, `it accepted the request, but has ${showCell(stored)}`);
  const isLost = sameCell(stored, shown);
  const outcome = { state: isLost ? 'failed' : 'conflict', note, shown: stored } as const;
  return resultOf(action, outcome, isLost ? {} : written);
}

function conflictOf(heading: string, { from, to }: Change, shown: Cell, wasTried: boolean): EditOutcome {
  const effect = wasTried ? 'whether it showed the new one in between is not known' : 'nothing was changed';
  const note = `${heading} was to become ${showCell(to)} in place of ${showCell(from)}, but the lead shows another value by now; ${effect}`;
  return { state: 'conflict', note, shown };
}

function refusedNote(heading: string, { to }: Change, why: string): string {
  return `the service did not take ${heading} = ${showCell(to)}: ${withoutStop(why)}`;
}

/** `written`: what came about; absent: the line of an earlier attempt stays, which may have overwritten what it says. */
function resultOf(action: Action, edit: EditOutcome, written?: Action['changes']): LeadResult {
  const isDone = edit.state === 'applied' || edit.state === 'unchanged';
  const outcome = isDone
    ? ({ state: 'done' } as const)
    : ({ state: 'held', code: `edit.${edit.state}`, message: edit.note ?? '' } as const);
  return { action, outcome, edit, ...(written !== undefined && { written }) };
}
