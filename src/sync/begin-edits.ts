import type pg from 'pg';
import { counted } from '../core/lead/counted.ts';
import type { Refusal } from '../core/merge/guard.ts';
import { type CalendarEdits, isWholeCalendar } from '../core/merge/requested-edit.ts';
import { calendarEdits, holdCalendar, planEdits } from '../store/requested-edits.ts';
import { type Run, updateRun } from '../store/runs.ts';

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
  return `the calendar of ${requestedBy} changed ${edits} of ${counted(followUps, 'follow-up')} within an hour, as if it had been emptied or shifted as a whole. They are held, and no lead was changed. leadsync resolve --requested-by ${requestedBy} --connection ${connection} --use target carries them out; --use lead gives them up`;
}
