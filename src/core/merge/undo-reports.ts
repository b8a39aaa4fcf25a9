import { type Cell, showCell } from '../lead/value.ts';
import { type PlannedAction, plannedAction } from './action.ts';

/** Something an undo leaves alone, and why. */
export function report(leadId: string, reason: string, message: string): PlannedAction {
  return plannedAction('report', { leadId, reason, message });
}

/** These fields were edited on this side after the run; `then`: what was not done therefore. */
export function editedSince(
  leadId: string,
  side: 'lead' | 'row',
  fields: readonly string[],
  then: string,
): PlannedAction {
  const message = `${fields.join(', ')} of the ${side} was edited after the run; ${then}`;
  return report(leadId, 'undo.edited-since', message);
}

/** A later run wrote the field; without a field: created, marked or removed the lead or its row. */
export function writtenSince(leadId: string, run: number, then: string, field?: string): PlannedAction {
  const what = field === undefined ? 'created, marked or removed the lead or its row' : `wrote ${field}`;
  return report(leadId, 'undo.written-since', `run ${run} ${what} since; ${then}`);
}

export function gone(leadId: string, side: 'lead' | 'row'): PlannedAction {
  return report(leadId, 'undo.gone', `the ${side} is gone; nothing can be put back`);
}

/** The earlier value was a formula or unreadable. */
export function notWritable(leadId: string, side: 'lead' | 'row', field: string, was: Cell): PlannedAction {
  const message = `${field} of the ${side} was ${showCell(was)}, which cannot be written: type it again if you need it`;
  return report(leadId, 'undo.not-writable', message);
}
