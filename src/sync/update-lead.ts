import { LeadsyncError, withoutStop } from '../errors.ts';
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
import type { NewConflict } from '../store/conflicts.ts';
import type { Run } from '../store/runs.ts';
import { commitLead, type LeadOutcome, putOff } from './commit.ts';
import type { StepContext } from './context.ts';
import { mayHaveActed } from '../ports/leads-service.ts';

/** PATCHes of a run that are read again though their replies are as good as receipts: they tell whether the others are. */
export const repliesToCheck = 3;

/** What a step that pushes knows beside what is stored. */
export interface Pushing {
  /** How many more PATCHes are read again although their replies show the whole lead. */
  repliesToCheck: number;
  /** The ids of actions whose write may have taken effect. */
  readonly written: Set<number>;
}

/**
 * Writes a row's edits into its lead: read again, PATCH of the changed fields, the stored values read back. A lead that
 * is no longer what the plan saw is put off. A field that the service refuses or ignores is held and named.
 */
export async function updateLead(
  context: StepContext,
  run: Run,
  action: Action,
  pushing: Pushing,
): Promise<void> {
  const leadId = action.leadId ?? '';
  const before = await context.leads.get(leadId, context.cut);
  if (before === null) return putOff(context, run, action, 'lead.gone', 'the lead is not there any more');
  const shown = leadCells(before, context.connection.fields);
  const was = leadBefore(action, shown);
  const open = Object.entries(action.changes).filter(
    ([field, { to }]) =>
      !sameCell(shown[field] ?? null, to) && sameCell(shown[field] ?? null, was[field] ?? null),
  );
  const drifted = open
    .filter(([field, { from }]) => !sameCell(shown[field] ?? null, from))
    .map(([field]) => field);
  if (drifted.length > 0) {
    const message = `${drifted.join(', ')} of the lead changed since the plan was made; the next run looks again`;
    return putOff(context, run, action, 'lead.changed', message);
  }

  const refused = new Map<string, string>();
  const body: Record<string, unknown> = {};
  for (const [field, { to }] of open) {
    const json = isUnreadable(to) ? undefined : fieldJson(to, before.fields[field]);
    if (json === undefined)
      refused.set(field, `${showCell(to)} does not fit the type of the lead's ${field}`);
    else body[field] = json;
  }
  const { lead: after, isReceipt } = await patch(context, action, body, refused, pushing);
  if (after === null) {
    const message = 'the lead was deleted while it was being written';
    return putOff(context, run, action, 'lead.gone', message);
  }
  const isShown = isReceipt && pushing.repliesToCheck <= 0;
  if (isReceipt) pushing.repliesToCheck -= 1;
  const stored = leadCells(after, context.connection.fields);
  await commitLead(context, run, action, outcomeOf(action, { was, stored, refused, isShown }));
}

/**
 * What the lead showed before this action wrote to it. After an earlier attempt that ended between the PATCH and its
 * commit it shows the action's own value already, perhaps in the service's spelling.
 */
function leadBefore({ changes, attempts }: Action, shown: Cells): Cells {
  const before = Object.entries(changes).map(([field, { from, to }]): [string, Cell] => {
    const cell = shown[field] ?? null;
    return [field, attempts > 0 && sameButSpelling(cell, to) ? from : cell];
  });
  return Object.fromEntries(before);
}

/**
 * Sends the fields; when the service rejects them together, one by one, so that the rejected one can be named. Adds to
 * `refused`. Returns the lead as it is stored afterwards, and whether the reply to the PATCH shows that by itself.
 */
async function patch(
  context: StepContext,
  action: Action,
  body: Readonly<Record<string, unknown>>,
  refused: Map<string, string>,
  pushing: Pushing,
): Promise<{ readonly lead: Lead | null; readonly isReceipt: boolean }> {
  const fields = Object.keys(body);
  const readBack = async () => ({
    lead: await context.leads.get(action.leadId ?? '', context.cut, 'write'),
    isReceipt: false,
  });
  if (fields.length === 0) return readBack();
  const reply = await sendPatch(context, action, body, pushing);
  if (!(reply instanceof LeadsyncError)) {
    // A reply that shows something else than was sent may show what was there before: only reading it back tells.
    if (reply === null || !showsAll(reply, body)) return readBack();
    return { lead: reply, isReceipt: isWhole(reply, body, context.connection.fields) };
  }
  if (fields.length === 1) {
    for (const field of fields) refused.set(field, reply.message);
  } else {
    for (const field of fields) {
      const single = await sendPatch(context, action, { [field]: body[field] }, pushing);
      if (single instanceof LeadsyncError) refused.set(field, single.message);
    }
  }
  return readBack();
}

/** Whether a reply shows more than an echo of what was sent: every mapped field, and fields that were not sent. */
function isWhole(
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
async function sendPatch(
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

/** What came of the PATCHes of an action. */
interface Patched {
  /** What the lead showed before. */
  readonly was: Cells;
  readonly stored: Cells;
  /** Why the service did not take a field, by field. */
  readonly refused: ReadonlyMap<string, string>;
  /** See `ActionOutcome`. */
  readonly isShown: boolean;
}

function outcomeOf(action: Action, { was, stored, refused, isShown }: Patched): LeadOutcome {
  const written: Record<string, Change> = {};
  // What the lead shows because of this write is nobody's edit, also when the service made something else of it.
  const agreed: Record<string, Value> = {};
  const toRow: Record<string, Change> = {};
  const held: NewConflict[] = [];
  for (const [field, change] of Object.entries(action.changes)) {
    const now = stored[field] ?? null;
    const isWritten = sameCell(now, change.to) || !sameCell(now, was[field] ?? null);
    if (isWritten && !isUnreadable(now)) agreed[field] = now;
    if (sameCell(now, change.to)) {
      written[field] = { ...change, from: was[field] ?? null };
    } else if (isUnreadable(now) || !sameButSpelling(now, change.to)) {
      held.push(refusal(action, field, change, now, refused.get(field)));
      if (!sameCell(now, change.from)) written[field] = { ...change, to: now };
    } else {
      // The service stored something else than was sent (trimmed, for example).
      written[field] = { ...change, from: was[field] ?? null, to: now };
      toRow[field] = {
        from: change.to,
        to: now,
        rule: 'lead-edited',
        ...(change.base !== undefined && { base: change.base }),
      };
    }
  }
  const fate =
    held.length === Object.keys(action.changes).length
      ? ({ state: 'held', code: 'lead.field-refused' } as const)
      : ({ state: 'done', isShown } as const);
  return { ...fate, held, written, agreed, toRow };
}

function refusal(
  action: Action,
  field: string,
  change: Change,
  now: Cell,
  said: string | undefined,
): NewConflict {
  const why = withoutStop(said ?? `it accepted the request, but has ${showCell(now)}`);
  return {
    leadId: action.leadId,
    field,
    row: action.row,
    code: 'lead.field-refused',
    message: `${field} = ${showCell(change.to)} was not taken by the service: ${why}. It is not sent again until it changes`,
    base: change.base,
    lead: now,
    rowValue: change.to,
  };
}
