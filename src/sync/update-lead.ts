import { LeadsyncError } from '../lib/errors.ts';
import { type FieldMapping, headingOf } from '../core/lead/mapping.ts';
import { fieldJson, type Lead, leadCells } from '../core/lead/lead.ts';
import {
  type Cell,
  type Cells,
  isUnreadable,
  sameButSpelling,
  sameCell,
  showCell,
  type Value,
} from '../core/lead/value.ts';
import type { Change } from '../core/merge/action.ts';
import type { Action } from '../store/actions.ts';
import type { NewConflict } from '../core/merge/holds.ts';
import { deferred, type LeadResult, refusal } from './commit.ts';
import type { StepContext } from './context.ts';
import { mayHaveActed } from '../ports/leads-service.ts';

/** The first PATCHes of a run are read again even if their replies show the whole lead: they prove the replies true. */
export const repliesToCheck = 3;

/** What one push knows beside the store. */
export interface Pushing {
  /** How many more PATCHes are read again although their replies show the whole lead. */
  repliesToCheck: number;
  /** The ids of actions whose write may have taken effect. */
  readonly written: Set<number>;
}

/**
 * Writes a row's edits into its lead: reads the lead again, sends a PATCH of the changed fields, and reads back what is
 * stored. Puts off a lead that changed since the plan. A field that the service refuses or ignores becomes a conflict.
 */
export async function updateLead(
  context: StepContext,
  action: Action,
  pushing: Pushing,
): Promise<LeadResult> {
  const leadId = action.leadId ?? '';
  const before = await context.leads.get(leadId, context.cut);
  if (before === null) return deferred(action, 'lead.gone', 'the lead is not there any more');
  const shown = leadCells(before, context.connection.fields);
  const was = leadBefore(action, shown);
  const open = Object.entries(action.changes).filter(
    ([field, { to }]) =>
      !sameCell(shown[field] ?? null, to) && sameCell(shown[field] ?? null, was[field] ?? null),
  );
  const { fields } = context.connection;
  const drifted = open
    .filter(([field, { from }]) => !sameCell(shown[field] ?? null, from))
    .map(([field]) => headingOf(fields, field));
  if (drifted.length > 0) {
    const message = `${drifted.join(', ')} of the lead changed since the plan was made; the next run looks again`;
    return deferred(action, 'lead.changed', message);
  }

  const refused = new Map<string, string>();
  const body: Record<string, unknown> = {};
  for (const [field, { to }] of open) {
    const json = isUnreadable(to) ? undefined : fieldJson(to, before.fields[field]);
    if (json === undefined)
      refused.set(field, `${showCell(to)} does not fit the type of the lead's ${headingOf(fields, field)}`);
    else body[field] = json;
  }
  const { lead: after, isWhole } = await patch(context, action, body, refused, pushing);
  if (after === null) {
    const message = 'the lead was deleted while it was being written';
    return deferred(action, 'lead.gone', message);
  }
  const isShown = isWhole && pushing.repliesToCheck <= 0;
  if (isWhole) pushing.repliesToCheck -= 1;
  const stored = leadCells(after, context.connection.fields);
  return resultOf(action, fields, { was, stored, refused, isShown });
}

/**
 * What the lead showed before this action wrote to it. After an attempt that ended between the PATCH and its commit, the
 * lead shows the action's own value, perhaps in the service's spelling.
 */
function leadBefore({ changes, attempts }: Action, shown: Cells): Cells {
  const before = Object.entries(changes).map(([field, { from, to }]): [string, Cell] => {
    const cell = shown[field] ?? null;
    return [field, attempts > 0 && sameButSpelling(cell, to) ? from : cell];
  });
  return Object.fromEntries(before);
}

/**
 * Sends the fields; when the service rejects them together, one by one, to name the rejected one in `refused`. Returns the
 * lead as stored then; `isWhole`: the reply to the PATCH shows all of it.
 */
async function patch(
  context: StepContext,
  action: Action,
  body: Readonly<Record<string, unknown>>,
  refused: Map<string, string>,
  pushing: Pushing,
): Promise<{ readonly lead: Lead | null; readonly isWhole: boolean }> {
  const fields = Object.keys(body);
  const readBack = async () => ({
    lead: await context.leads.get(action.leadId ?? '', context.cut, 'write'),
    isWhole: false,
  });
  if (fields.length === 0) return readBack();
  const reply = await sendPatch(context, action, body, pushing);
  if (!(reply instanceof LeadsyncError)) {
    // A reply that shows something else than was sent may show what was there before: only reading it back tells.
    if (reply === null || !showsAll(reply, body)) return readBack();
    return { lead: reply, isWhole: showsWhole(reply, body, context.connection.fields) };
  }
  for (const field of fields) {
    const single =
      fields.length === 1 ? reply : await sendPatch(context, action, { [field]: body[field] }, pushing);
    if (single instanceof LeadsyncError) refused.set(field, single.message);
  }
  return readBack();
}

/** Whether a reply shows more than an echo of what was sent: every mapped field, and fields that were not sent. */
function showsWhole(
  { fields }: Lead,
  body: Readonly<Record<string, unknown>>,
  mapped: readonly { readonly field: string }[],
): boolean {
  return (
    mapped.every(({ field }) => Object.hasOwn(fields, field)) &&
    Object.keys(fields).some((field) => !Object.hasOwn(body, field))
  );
}

function showsAll(lead: Lead, body: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(body).every(
    ([field, sent]) => JSON.stringify(lead.fields[field] ?? null) === JSON.stringify(sent),
  );
}

/** The lead, null when the reply does not show it, or the service's rejection of exactly this content. */
export async function sendPatch(
  context: StepContext,
  { id, leadId }: Action,
  body: Readonly<Record<string, unknown>>,
  { written }: Pushing,
): Promise<Lead | null | LeadsyncError> {
  try {
    const lead = await context.leads.update(leadId ?? '', body, context.cut);
    written.add(id);
    return lead;
  } catch (error) {
    if (mayHaveActed(error)) written.add(id);
    if (error instanceof LeadsyncError && error.code === 'leads.rejected') return error;
    throw error;
  }
}

interface Patched {
  /** What the lead showed before. */
  readonly was: Cells;
  readonly stored: Cells;
  /** Why the service did not take a field, by field. */
  readonly refused: ReadonlyMap<string, string>;
  /** See `ActionOutcome`. */
  readonly isShown: boolean;
}

function resultOf(
  action: Action,
  fields: readonly FieldMapping[],
  { was, stored, refused, isShown }: Patched,
): LeadResult {
  const written: Record<string, Change> = {};
  // What the lead shows because of this write is nobody's edit, even if the service stored it differently.
  const agreed: Record<string, Value> = {};
  const toRow: Record<string, Change> = {};
  const conflicts: NewConflict[] = [];
  for (const [field, change] of Object.entries(action.changes)) {
    const { from, to, base } = change;
    const now = stored[field] ?? null;
    const before = was[field] ?? null;
    if (!isUnreadable(now) && (sameCell(now, to) || !sameCell(now, before))) agreed[field] = now;
    if (sameCell(now, to)) {
      written[field] = { ...change, from: before };
    } else if (isUnreadable(now) || !sameButSpelling(now, to)) {
      const why = refused.get(field) ?? `it accepted the request, but has ${showCell(now)}`;
      conflicts.push({ ...refusal(action, fields, field, to, now, why), base });
      if (!sameCell(now, from)) written[field] = { ...change, to: now };
    } else {
      // The service stored another spelling (trimmed, for example).
      written[field] = { ...change, from: before, to: now };
      toRow[field] = { from: to, to: now, rule: 'lead-edited', ...(base !== undefined && { base }) };
    }
  }
  const outcome =
    conflicts.length === Object.keys(action.changes).length
      ? ({ state: 'held', code: 'lead.field-refused' } as const)
      : ({ state: 'done', isShown } as const);
  return { action, outcome, conflicts, written, agreed, toRow };
}
