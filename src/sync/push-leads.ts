import type pg from 'pg';
import { LeadsyncError } from '../lib/errors.ts';
import type { ActionKind } from '../core/merge/action.ts';
import {
  type Action,
  beginAttempts,
  countAttempts,
  putOffInARow,
  putOffRemaining,
  recordOutcomes,
} from '../store/actions.ts';
import { areRepliesDoubted } from '../store/services.ts';
import { forgetWrites, recordHistory } from '../store/history.ts';
import { type Run, updateRun } from '../store/runs.ts';
import { holdRemaining } from '../store/conflicts.ts';
import { commitLeads, deferred, type LeadResult } from './commit.ts';
import { inLeasedTransaction, scopeOf, type StepContext } from './context.ts';
import { carryOutEdit } from './requested-edits.ts';
import { createLead } from './create-lead.ts';
import { inLanes } from './concurrency.ts';
import { type Pushing, repliesToCheck, updateLead } from './update-lead.ts';
import { leadCells } from '../core/lead/lead.ts';
import { unmappedHash } from '../core/lead/content-hash.ts';
import { sameCell } from '../core/lead/value.ts';
import { putsBack, takenAway } from '../core/merge/undo.ts';
import { unmappedHashOf } from '../store/intents.ts';

/** Attempts at an action before the run continues without it. */
export const attemptsPerAction = 3;

/** After this number of put-off actions in a row the service is at fault, and the rest is put off. */
export const faultsThatTell = 3;

/** Faults of a single item, and faults that may be the service's. */
export const itemCodes: readonly string[] = ['leads.rejected', 'leads.too-large'];

/** Faults of a lead that may be there and cannot be read. */
export const unreadCodes: readonly string[] = [...itemCodes, 'leads.forbidden'];
export const faultCodes: readonly string[] = ['leads.unavailable', 'leads.unreachable', 'leads.not-json'];

/** Actions begun together: when the process dies, the outcome of all of them may be unknown. */
const batchSize = 20;

/** Kinds that need the service: writes to it, and the proof that a lead is gone before its row changes. */
function kindsOf({ runPolicy }: StepContext): readonly ActionKind[] {
  return ['update-lead', 'create-lead', 'delete-lead', ...runPolicy.toProve];
}

export async function pushLeads(context: StepContext, run: Run): Promise<Run> {
  const isDoubted = await areRepliesDoubted(context.pool, scopeOf(context.connection));
  const pushing = {
    repliesToCheck: isDoubted ? Number.POSITIVE_INFINITY : repliesToCheck,
    written: new Set<number>(),
  };
  context.stop.throwIfAborted();
  let batch = await inLeasedTransaction(context, (db) => begin(context, db, run));
  while (batch.length > 0) batch = await pushBatch(context, run, batch, pushing);
  const phase = context.runPolicy.leadsAlone ? 'finish' : 'push-rows';
  return inLeasedTransaction(context, (db) => updateRun(db, run.id, { phase, attempts: 0 }));
}

/**
 * Counts an attempt at each action of the next batch. A PATCH may take effect even if its reply is lost: the history has
 * the values that it may overwrite before the lead is read, so that nothing delays the write after that read.
 */
async function begin(context: StepContext, db: pg.PoolClient, run: Run): Promise<readonly Action[]> {
  const batch = await beginAttempts(db, run, kindsOf(context), batchSize);
  const patches = batch.filter(({ kind }) => kind === 'update-lead');
  await recordHistory(
    db,
    patches.map(({ id, leadId, changes }) => ({ actionId: id, leadId: leadId ?? '', changes })),
  );
  return batch;
}

interface Fault {
  readonly action: Action;
  readonly error: unknown;
}

/**
 * Carries out several actions at a time, as the service allows, and stores what became of them together; returns the next
 * batch. Actions of one lead are sequential, and so are all creates, each of which is stored before the next one: two with
 * the same content could not be told apart when their replies are lost. After a fault no action begins; those that did not
 * begin are free again.
 */
async function pushBatch(
  context: StepContext,
  run: Run,
  batch: readonly Action[],
  pushing: Pushing,
): Promise<readonly Action[]> {
  const open = new Map(batch.map((action) => [action.id, action]));
  const results: LeadResult[] = [];
  const faults: Fault[] = [];
  const lists = Map.groupBy(batch, ({ leadId }) => leadId ?? '').values();
  const pushList = async (actions: readonly Action[]): Promise<void> => {
    for (const action of actions) {
      if (faults.length > 0) return;
      context.stop.throwIfAborted();
      try {
        const result = await carryOut(context, run, action, pushing);
        if (action.kind === 'create-lead')
          await inLeasedTransaction(context, (db) => commitLeads(context, db, run, [result]));
        else results.push(result);
        open.delete(action.id);
      } catch (error) {
        faults.push({ action, error });
        throw error;
      }
    }
  };
  const ended = await inLanes(lists, () => context.leads.lanes, pushList).then(
    () => null,
    (error: unknown) => ({ error }),
  );
  const ending = faults.length === 0 ? ended : faults.find((fault) => effectOf(fault) === 'ends the step');
  const next = await inLeasedTransaction(context, async (db) => {
    await commitLeads(context, db, run, results);
    if (open.size < batch.length) await updateRun(db, run.id, { attempts: 0 });
    if (ended !== null) await freeOpen(db, [...open.values()], faults, pushing);
    for (const fault of faults) await storeFault(context, db, run, fault);
    return ending ? [] : begin(context, db, run);
  });
  if (ending) throw ending.error;
  return next;
}

/** Takes back the attempts and history of actions without a request. */
async function freeOpen(
  db: pg.PoolClient,
  open: readonly Action[],
  faults: readonly Fault[],
  { written }: Pushing,
): Promise<void> {
  const unsent = open.filter(({ id }) => !written.has(id));
  // A rate limit is no attempt; any other fault is one.
  const tried = new Set(faults.filter(({ error }) => !isRateLimited(error)).map(({ action }) => action.id));
  await countAttempts(
    db,
    unsent.filter(({ id }) => !tried.has(id)),
    -1,
  );
  // Values that an earlier attempt may have overwritten stay on record.
  const first = unsent.flatMap(({ id, attempts }) => (attempts === 0 ? [id] : []));
  await forgetWrites(db, first);
}

function isRateLimited(error: unknown): boolean {
  return error instanceof LeadsyncError && error.code === 'leads.rate-limited';
}

function effectOf({ action, error }: Fault): 'forbidden' | 'put off' | 'ends the step' {
  if (!(error instanceof LeadsyncError)) return 'ends the step';
  if (error.code === 'leads.forbidden') return 'forbidden';
  if (itemCodes.includes(error.code)) return 'put off';
  return faultCodes.includes(error.code) && action.attempts + 1 >= attemptsPerAction
    ? 'put off'
    : 'ends the step';
}

/**
 * Stores the outcome of a fault. `forbidden`: all actions of the kind wait for another key. `put off`: the others go on;
 * after several in a row the service is at fault, and the rest that needs it is left to the next run. The target still
 * gets its writes.
 */
async function storeFault(context: StepContext, db: pg.PoolClient, run: Run, fault: Fault): Promise<void> {
  const { action, error } = fault;
  const effect = effectOf(fault);
  if (!(error instanceof LeadsyncError) || effect === 'ends the step') return;
  const { code, message } = error;
  if (effect === 'forbidden') {
    context.log.warn({ run: run.id, kind: action.kind, code }, message);
    // A requested edit waits for another key; of the others the plan is made anew each time.
    if (context.runPolicy.leadsAlone) await putOffRemaining(db, run, [action.kind], error);
    else await holdRemaining(db, run, action.kind, error);
    return;
  }
  const kinds = kindsOf(context);
  await recordOutcomes(db, [{ actionId: action.id, state: 'deferred', code, message }]);
  if ((await putOffInARow(db, run, kinds, faultCodes)) < faultsThatTell) return;
  await putOffRemaining(db, run, kinds, {
    code,
    message: 'not tried: the service failed for several items before this one',
  });
}

function carryOut(context: StepContext, run: Run, action: Action, pushing: Pushing): Promise<LeadResult> {
  if (context.runPolicy.leadsAlone) return carryOutEdit(context, action, pushing);
  switch (action.kind) {
    case 'update-lead':
      return updateLead(context, action, pushing);
    case 'create-lead':
      return createLead(context, run, action);
    case 'delete-lead':
      return deleteLead(context, run, action);
    default:
      return proveLeadGone(context, action);
  }
}

/**
 * Deletes the lead of a row that a person deleted, or, of an undo, a lead that the run created; not when the lead was edited
 * since, and in an undo not when any of its unmapped fields changed either.
 */
async function deleteLead(context: StepContext, run: Run, action: Action): Promise<LeadResult> {
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
async function proveLeadGone(context: StepContext, action: Action): Promise<LeadResult> {
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
