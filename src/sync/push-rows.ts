import type pg from 'pg';
import { rowKinds } from '../core/merge/action.ts';
import { putsBack } from '../core/merge/put-back.ts';
import { deletedText } from '../core/merge/row-status.ts';
import { type Action, countAttempts, openActions } from '../store/actions.ts';
import { recordHistory } from '../store/history.ts';
import { placesOf } from '../store/pairs.ts';
import { conflictsOfLeads } from '../store/row-facts.ts';
import { type Run, updateRun } from '../store/runs.ts';
import type { RowOutcome } from '../ports/target.ts';
import { commitRows, type RowResult } from './commit.ts';
import { inLeasedTransaction, type StepContext } from './context.ts';
import { pushNewRows } from './push-new-rows.ts';
import { isReplacing, rowChange, rowHistory } from './row-change.ts';
import { newRowStatus, showStatus } from './show-status.ts';
import { writeBatches } from './write-batches.ts';

/**
 * Writes rows, in batches that the target applies as a whole. The baseline moves only for confirmed changes; a batch whose
 * confirmation was lost is written again.
 */
export async function pushRows(context: StepContext, run: Run): Promise<Run> {
  await writeBatches(context, run, {
    batches: openActions(context.pool, run, rowKinds, context.target.batchSize),
    begin: (db, actions) => recordBegun(db, actions),
    async changes(actions) {
      const status = await statusOfNewRows(context, actions);
      const created = actions.flatMap(({ kind, leadId }) => (kind === 'create-row' ? (leadId ?? []) : []));
      const was = await placesOf(context.pool, run.connection, created);
      const today = new Date(context.clock.now()).toISOString().slice(0, 10);
      const deleted = deletedText(today);
      return actions.map((action) =>
        rowChange(action, deleted, status(action), was.get(action.leadId ?? '')),
      );
    },
    commit(actions, outcomeOf) {
      const results = actions.map((action) => resultOf(action, outcomeOf(String(action.id))));
      return commitRows(context, run, results);
    },
  });
  await pushNewRows(context, run);
  await showStatus(context, run);
  return inLeasedTransaction(context, (db) => updateRun(db, run.id, { phase: 'receipt' }));
}

/**
 * Records the values of rows before they are overwritten, and counts the attempt. When the outcome of the write is lost,
 * the next run finds the new values: the history then has what they may have replaced.
 */
async function recordBegun(db: pg.PoolClient, actions: readonly Action[]): Promise<void> {
  const replacing = actions.filter(isReplacing);
  const entries = replacing.map(rowHistory).map(({ changes, ...entry }) => {
    const filled = Object.entries(changes).filter(([, { from }]) => from !== null);
    return { ...entry, changes: Object.fromEntries(filled) };
  });
  await recordHistory(db, entries);
  await countAttempts(db, actions);
}

/** The status of new rows, which spares a second write; undefined without a status column. */
async function statusOfNewRows(
  { pool, connection }: StepContext,
  actions: readonly Action[],
): Promise<(action: Action) => string | undefined> {
  if (connection.target.statusColumn === undefined) return () => undefined;
  const fresh = actions.filter(({ kind }) => kind === 'create-row' || kind === 'link');
  const leadIds = fresh.map(({ leadId }) => leadId ?? '');
  const conflicts = leadIds.length === 0 ? null : await conflictsOfLeads(pool, connection.name, leadIds);
  return ({ leadId }) => newRowStatus(conflicts?.get(leadId ?? '') ?? [], connection.fields);
}

function resultOf(action: Action, outcome: RowOutcome): RowResult {
  if (outcome.status === 'done') return { action, state: 'done', row: outcome.row };
  const { status, code, message } = outcome;
  // Without a status column the row is unchanged, and only the store records the deletion.
  if (code === 'target.no-status-column') return { action, state: 'done', code };
  // The row is fine: it only cannot be undone.
  const isUndosOwn = code === 'row.has-own-cells' && putsBack(action);
  return { action, state: isUndosOwn ? 'deferred' : status, code, message };
}
