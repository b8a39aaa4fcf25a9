import { leadCells } from '../core/lead/lead.ts';
import { unmappedHash } from '../core/lead/content-hash.ts';
import { sameCell } from '../core/lead/value.ts';
import { putsBack, takenAway } from '../core/merge/put-back.ts';
import type { Action } from '../store/actions.ts';
import { unmappedHashOf } from '../store/intents.ts';
import type { Run } from '../store/runs.ts';
import { deferred, type LeadResult } from './commit.ts';
import type { StepContext } from './context.ts';

/**
 * Deletes the lead of a row that a person deleted, or, of an undo, a lead that the run created; not when the lead was edited
 * since, and in an undo not when any of its unmapped fields changed either.
 */
export async function deleteLead(context: StepContext, run: Run, action: Action): Promise<LeadResult> {
  const leadId = action.leadId ?? '';
  const lead = await context.leads.get(leadId, context.cut);
  const cells = lead && leadCells(lead, context.connection.fields);
  const edited =
    cells && Object.entries(action.expect).some(([field, cell]) => !sameCell(cells[field] ?? null, cell));
  if (edited) {
    const message = 'the lead was edited since the plan was made; it was not deleted';
    return deferred(action, 'lead.changed', message);
  }
  if (lead && putsBack(action)) {
    const asMade = await unmappedHashOf(context.pool, run.connection, leadId);
    if (asMade !== unmappedHash(lead, context.connection.fields))
      return deferred(action, 'lead.changed', othersChanged(asMade));
  }
  if (cells) await context.leads.delete(leadId, context.cut);
  const written = takenAway(action, 'row-edited');
  return { action, outcome: { state: 'done' }, written, agreed: {} };
}

function othersChanged(asMade: string | null): string {
  const why =
    asMade === null
      ? 'it is not known what the lead had beside the mapped fields when it was made'
      : 'the lead was changed since it was made, in fields that have no column';
  return `${why}; it was not deleted. Look at it in the service, and delete it there if nobody needs it`;
}

/**
 * The third proof before a row is marked or removed: after two complete scans without the lead the service must also
 * answer 404 for its id (docs/guarantees.md, 4).
 */
export async function proveLeadGone(context: StepContext, action: Action): Promise<LeadResult> {
  // An undone match keeps its lead.
  const isKept = action.reason === 'unmatched';
  const lead = isKept ? null : await context.leads.get(action.leadId ?? '', context.cut);
  if (lead !== null) {
    const message =
      action.kind === 'unlink'
        ? 'the lead created from this row is still there, so the row keeps its id'
        : 'two scans missed the lead, but it is still there; nothing was deleted';
    return deferred(action, 'lead.still-there', message);
  }
  return { action, outcome: { state: 'proven' } };
}
