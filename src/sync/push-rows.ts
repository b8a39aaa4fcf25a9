import type pg from 'pg';
import { rowKinds } from '../core/merge/action.ts';
import { putsBack } from '../core/merge/put-back.ts';
import { deletedText } from '../core/merge/row-status.ts';
import { type Action, countTries, pendingActions } from '../store/actions.ts';
import { recordHistory } from '../store/history.ts';
import { placesOf } from '../store/pairs.ts';
import { heldOfLeads } from '../store/row-facts.ts';
import { type Run, updateRun } from '../store/runs.ts';
import type { RowOutcome } from '../ports/target.ts';
import { commitRows, type RowFate } from './commit.ts';
import { inLeasedTransaction, type StepContext } from './context.ts';
import { pushNewRows } from './push-new-rows.ts';
import { isReplacing, rowChange, rowHistory } from './row-change.ts';
import { newRowStatus, showStatus } from './show-status.ts';
import { writeBatches } from './write-batches.ts';

/**
 * Carries out what concerns the target, in batches that the target applies as a whole. The baseline moves only for
 * changes that the target confirmed; a batch whose confirmation was lost is simply written again.
 */
export async function pushRows(context: StepContext, run: Run): Promise<Run> {
  await writeBatches(context, run, {
    batches: batchesOf(context, run),
    begin: (db, actions) => recordBegun(db, run, actions),
    async changes(actions) {
      const status = await statusOfNewRows(context, actions);
      const created = actions.flatMap(({ kind, leadId }) => (kind === 'create-row' ? (leadId ?? []) : []));
      const was = await placesOf(context.pool, run.connection, created);
      const deleted = deletedText(day(context.clock.now()));
      return actions.map((action) =>
        rowChange(action, deleted, status(action), was.get(action.leadId ?? '')),
      );
    },
    commit(actions, outcomeOf) {
      const fates = actions.map((action) => fateOf(action, outcomeOf(String(action.id))));
      return commitRows(context, run, fates);
    },
  });
  await pushNewRows(context, run);
  await showStatus(context, run);
  return inLeasedTransaction(context, (db) => updateRun(db, run.id, { phase: 'receipt' }));
}

/** Each batch is asked for while the one before is written. */
async function* batchesOf({ pool, target }: StepContext, run: Run): AsyncGenerator<readonly Action[]> {
  const following = (after: number): Promise<readonly Action[]> => {
    const actions = pendingActions(pool, run, rowKinds, target.batchSize, after);
    // The write may fail first.
    actions.catch(() => {});
    return actions;
  };
  let next = following(0);
  for (;;) {
    const actions = await next;
    const last = actions.at(-1);
    if (last === undefined) return;
    next = following(last.id);
    yield actions;
  }
}

/**
 * Keeps what rows show before it is written over. When the run ends before it hears what became of the write, the next
 * one finds the new values there and does not know the old ones: then this line says what may be gone. Of each is
 * counted that it was begun: it may be there.
 */
async function recordBegun(db: pg.PoolClient, run: Run, actions: readonly Action[]): Promise<void> {
  const replacing = actions.filter(isReplacing);
  const entries = replacing.map(rowHistory).map(({ changes, ...entry }) => {
    const filled = Object.entries(changes).filter(([, { from }]) => from !== null);
    return { ...entry, changes: Object.fromEntries(filled) };
  });
  await recordHistory(db, run, entries);
  await countTries(
    db,
    actions.map(({ id }) => id),
  );
}

/** What a new row says of itself, so that it needs no second write: nothing without a status column. */
async function statusOfNewRows(
  { pool, connection }: StepContext,
  actions: readonly Action[],
): Promise<(action: Action) => string | undefined> {
  if (connection.target.statusColumn === undefined) return () => undefined;
  const fresh = actions.filter(({ kind }) => kind === 'create-row' || kind === 'link');
  const leadIds = fresh.map(({ leadId }) => leadId ?? '');
  const held = leadIds.length === 0 ? null : await heldOfLeads(pool, connection.name, leadIds);
  return ({ leadId }) => newRowStatus(held?.get(leadId ?? '') ?? [], connection.fields);
}

/** The day (UTC) of a moment. */
function day(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}

/** What an outcome is to an action. */
function fateOf(action: Action, outcome: RowOutcome): RowFate {
  if (outcome.status === 'done') return { action, state: 'done', row: outcome.row };
  const { status, code, message } = outcome;
  // A table without a status column cannot be marked: the row stays as it is and the deletion is remembered here.
  if (code === 'target.no-status-column') return { action, state: 'done', code };
  // Nothing is wrong with the row: only the undo cannot have it.
  const isUndosOwn = code === 'row.has-own-cells' && putsBack(action);
  return { action, state: isUndosOwn ? 'deferred' : status, code, message };
}
