import { LeadsyncError, withoutStop } from '../errors.ts';
import { type Lead, leadCells } from '../core/lead/lead.ts';
import {
  type Cells,
  isUnreadable,
  sameButSpelling,
  sameCell,
  showCell,
  type Value,
  type Values,
} from '../core/lead/value.ts';
import type { Change, Changes } from '../core/merge/action.ts';
import { holdMessage } from '../core/merge/hold-message.ts';
import { type Action, writtenCells } from '../store/actions.ts';
import type { NewConflict } from '../store/conflicts.ts';
import {
  abandonIntents,
  attemptEnded,
  beginIntent,
  intentAnswered,
  intentsCreated,
  intentOfAction,
} from '../store/intents.ts';
import type { Run } from '../store/runs.ts';
import { commitLead, type LeadOutcome, defer } from './commit.ts';
import { inLeasedTransaction, type StepContext } from './context.ts';
import { mayHaveActed } from '../ports/leads-service.ts';
import { readable } from './row-change.ts';
import { refusal } from './update-lead.ts';

const notReadBack = 'the lead was created, but could not be read back; the next complete scan shows it';

const inDoubt =
  'the reply does not say whether a lead was created, or which one; the next complete scan finds out';

/**
 * Creates the lead of a new row. The intent is committed just before the request leaves, so that after a lost reply the
 * lead is searched for and never created twice (docs/architecture.md 6). A request that never left leaves no intent.
 */
export async function createLead(context: StepContext, run: Run, action: Action): Promise<void> {
  if ((await intentOfAction(context.pool, action.id)) !== null) {
    return defer(context, action, 'create.in-doubt', inDoubt);
  }
  const content = readable(writtenCells(action.changes));
  const intent: { id: number | null } = { id: null };
  const begin = (): Promise<void> =>
    inLeasedTransaction(context, async (db) => {
      if (intent.id !== null) await abandonIntents(db, [intent.id]);
      const { id: actionId, contentHash, expect: row } = action;
      intent.id = await beginIntent(db, { connection: run.connection, actionId, contentHash, row, content });
    });
  let reply: Lead | { readonly id: string } | null;
  try {
    reply = await context.leads.create(content, context.cut, begin);
  } catch (error) {
    if (intent.id === null) throw error;
    return failed(context, run, action, intent.id, error);
  }
  const { id: intentId } = intent;
  if (intentId === null) throw new Error('a request left without its intent');
  if (reply === null) {
    await intentAnswered(context.pool, intentId);
    return defer(context, action, 'create.in-doubt', inDoubt);
  }
  const lead = 'fields' in reply ? reply : await readBack(context, reply.id);
  if (lead === null) {
    await intentsCreated(context.pool, [{ id: intentId, leadId: reply.id }]);
    return defer(context, action, 'create.in-doubt', notReadBack);
  }
  const stored = leadCells(lead, context.connection.fields);
  const outcome = outcomeOf(context, action, lead.id, stored, content);
  await commitLead(context, run, action, { ...outcome, intent: { id: intentId, leadId: lead.id } });
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
async function failed(
  context: StepContext,
  run: Run,
  action: Action,
  intentId: number,
  error: unknown,
): Promise<void> {
  if (!(error instanceof LeadsyncError) || mayHaveActed(error)) {
    await attemptEnded(context.pool, intentId);
    if (!(error instanceof LeadsyncError)) throw error;
    return defer(context, action, 'create.in-doubt', `${withoutStop(error.message)}; ${inDoubt}`);
  }
  if (error.code !== 'leads.rejected') {
    await abandonIntents(context.pool, [intentId]);
    throw error;
  }
  const { contentHash, row } = action;
  const code = 'lead.create-refused';
  const message = `no lead was created from row ${row ?? '?'}: ${withoutStop(error.message)}. leadsync tries again when the row changes`;
  const conflicts = [{ leadId: null, contentHash, row, code, message }];
  const intent = { id: intentId, leadId: null };
  await commitLead(context, run, action, { state: 'held', code, conflicts, intent });
}

/** The outcome of a create: a field that the service stored differently becomes a conflict, or goes to the row. */
function outcomeOf(
  { connection: { fields } }: StepContext,
  action: Action,
  leadId: string,
  stored: Cells,
  content: Values,
): LeadOutcome {
  const place = { leadId, row: action.row };
  const agreed: Record<string, Value> = {};
  const toRow: Record<string, Change> = {};
  const conflicts: NewConflict[] = [];
  for (const [field, row] of Object.entries(action.expect)) {
    const lead = stored[field] ?? null;
    if (isUnreadable(row) || isUnreadable(lead)) {
      const code = isUnreadable(row) ? 'row.unreadable' : 'lead.unreadable';
      const { type } = fields.find((mapping) => mapping.field === field) ?? { type: 'text' };
      const message = holdMessage(code, { field, type }, lead, row);
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
        refusal(place, field, row, lead, `when it created the lead, it stored ${showCell(lead)}`),
      );
  }
  return { state: 'done', conflicts, written: asStored(action.changes, stored), agreed, toRow };
}

/** What the lead has of the sent content; the service ignored a field that the lead does not show. */
function asStored(changes: Changes, stored: Cells): Changes {
  const shown = Object.entries(changes).flatMap(([field, change]) => {
    const to = stored[field] ?? null;
    return to === null ? [] : [[field, { ...change, to }] as const];
  });
  return Object.fromEntries(shown);
}
