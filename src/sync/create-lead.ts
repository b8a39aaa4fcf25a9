import { LeadsyncError, withoutStop } from '../lib/errors.ts';
import { type Lead, leadCells } from '../core/lead/lead.ts';
import {
  type Cells,
  isUnreadable,
  readable,
  sameButSpelling,
  sameCell,
  showCell,
  type Value,
  type Values,
} from '../core/lead/value.ts';
import type { Change, Changes } from '../core/merge/action.ts';
import { holdMessage, type NewConflict } from '../core/merge/holds.ts';
import { unreadCode } from '../core/merge/merge-field.ts';
import {
  existingLead,
  existsReason,
  overwritten,
  type Refused,
  type Sighting,
} from '../core/merge/refused-create.ts';
import { type Action, writtenCells } from '../store/actions.ts';
import { beginIntent, changeIntents } from '../store/intents.ts';
import { loadSpellings, spelled } from '../store/pairs.ts';
import { connectionOf } from '../store/places.ts';
import { refusedBefore, sightingsOf } from '../store/refused-creates.ts';
import type { Run } from '../store/runs.ts';
import { deferred, type LeadResult, refusal, sentKeyOf } from './commit.ts';
import { inLeasedTransaction, serviceOf, type StepContext } from './context.ts';
import { mayHaveActed } from '../ports/leads-service.ts';

const notReadBack = 'the lead was created, but could not be read back; the next complete scan shows it';

const inDoubt =
  'the reply does not say whether a lead was created, or which one; the next complete scan finds out';

/**
 * Creates the lead of a new row. The intent is committed just before the request leaves, so that after a lost reply the
 * lead is searched for and never created twice (docs/architecture.md 6). A request that never left leaves no intent.
 */
export async function createLead(context: StepContext, run: Run, action: Action): Promise<LeadResult> {
  if (action.isBegun) return deferred(action, 'create.in-doubt', inDoubt);
  const before = await refusedBefore(context.pool, run.connection, sentKeyOf(action));
  if (before !== null) return held(action, before);
  const content = readable(writtenCells(action.changes));
  const intent = { isCommitted: false };
  const begin = async (): Promise<void> => {
    await inLeasedTransaction(context, (db) => beginIntent(db, run.connection, action.id));
    intent.isCommitted = true;
  };
  let reply: Lead | { readonly id: string } | null;
  try {
    reply = await context.leads.create(content, context.cut, begin);
  } catch (error) {
    if (!intent.isCommitted) throw error;
    return failed(context, action, error);
  }
  if (!intent.isCommitted) throw new Error('a request left without its intent');
  if (reply === null) {
    await changeIntents(context.pool, [[action.id, { answered: true }]]);
    return deferred(action, 'create.in-doubt', inDoubt);
  }
  const existing = await claim(context, run, action.id, reply.id);
  const lead = 'fields' in reply ? reply : await readBack(context, reply.id);
  if (existing !== null) {
    const stored = lead === null ? {} : leadCells(lead, context.connection.fields);
    const written = overwritten(content, existing.cells, stored);
    const why = existsReason(existing, written, connectionOf(run.connection), context.connection.fields);
    const refused = { code: 'lead.exists', why } as const;
    return { ...held(action, refused), leadId: existing.leadId, written };
  }
  if (lead === null) {
    return deferred(action, 'create.in-doubt', notReadBack);
  }
  const stored = leadCells(lead, context.connection.fields);
  return { ...resultOf(context, action, lead.id, stored, content), leadId: lead.id };
}

/** The result of a create of which no lead was made. */
function held(action: Action, refused: Refused): LeadResult {
  return { action, outcome: { state: 'held', code: refused.code }, refused };
}

/**
 * Gives the lead of a reply to the create, before anything else is asked; or the lead that was there already: then it is no
 * create (docs/architecture.md 6).
 */
function claim(context: StepContext, run: Run, actionId: number, leadId: string): Promise<Sighting | null> {
  return inLeasedTransaction(context, async (db) => {
    const spellings = await loadSpellings(db, run.connection, [leadId]);
    const leadIds = [...new Set([leadId, spelled(spellings, leadId)])];
    const service = serviceOf(context.connection);
    const { sightings, attemptedAt } = await sightingsOf(db, run, { actionId, leadIds, service });
    const existing = existingLead(sightings, attemptedAt, connectionOf(run.connection));
    if (existing === null) await changeIntents(db, [[actionId, { state: 'created', leadId }]]);
    return existing;
  });
}

/** The new lead; null when it cannot be read now: the next scan shows it. */
async function readBack(context: StepContext, id: string): Promise<Lead | null> {
  try {
    return await context.leads.get(id, context.cut, 'write');
  } catch (error) {
    context.log.warn({ err: error, leadId: id }, 'the new lead could not be read back');
    return null;
  }
}

/** Abandons the intent when certainly no lead was created; then the action is held, or tried again. */
async function failed(context: StepContext, action: Action, error: unknown): Promise<LeadResult> {
  if (!(error instanceof LeadsyncError) || mayHaveActed(error)) {
    await changeIntents(context.pool, [[action.id, { endedNow: true }]]);
    if (!(error instanceof LeadsyncError)) throw error;
    return deferred(action, 'create.in-doubt', `${withoutStop(error.message)}; ${inDoubt}`);
  }
  if (error.code !== 'leads.rejected') {
    await changeIntents(context.pool, [[action.id, { state: 'abandoned' }]]);
    throw error;
  }
  const refused = { code: 'lead.create-refused', why: withoutStop(error.message) } as const;
  return held(action, refused);
}

/** The result of a create: a field that the service stored differently becomes a conflict, or goes to the row. */
function resultOf(
  { connection: { fields } }: StepContext,
  action: Action,
  leadId: string,
  stored: Cells,
  content: Values,
): LeadResult {
  const place = { leadId, row: action.row };
  const agreed: Record<string, Value> = {};
  const toRow: Record<string, Change> = {};
  const conflicts: NewConflict[] = [];
  for (const [field, row] of Object.entries(action.expect)) {
    const lead = stored[field] ?? null;
    if (isUnreadable(row) || isUnreadable(lead)) {
      const code = isUnreadable(row) ? unreadCode('row', row) : unreadCode('lead', lead);
      const mapping = fields.find((one) => one.field === field) ?? { field, column: field, type: 'text' };
      const message = holdMessage(code, mapping, lead, row);
      conflicts.push({ ...place, field, code, message, lead, rowValue: row });
      continue;
    }
    // A value that the service made of what was sent is nobody's edit.
    if (field in content || sameCell(lead, row)) agreed[field] = lead;
    if (sameCell(lead, row)) continue;
    if (!(field in content) || sameButSpelling(lead, row))
      toRow[field] = { from: row, to: lead, rule: 'lead-edited' };
    else
      conflicts.push(
        refusal(place, fields, field, row, lead, `when it created the lead, it stored ${showCell(lead)}`),
      );
  }
  const written = asStored(action.changes, stored);
  return { action, outcome: { state: 'done' }, conflicts, written, agreed, toRow };
}

/** What the lead has of the sent content; the service ignored a field that the lead does not show. */
function asStored(changes: Changes, stored: Cells): Changes {
  const shown = Object.entries(changes).flatMap(([field, change]) => {
    const to = stored[field] ?? null;
    return to === null ? [] : [[field, { ...change, to }] as const];
  });
  return Object.fromEntries(shown);
}
