import type pg from 'pg';
import { rowKinds } from '../core/merge/action.ts';
import { deletedText } from '../core/merge/row-status.ts';
import { type Action, countTries, pendingActions, recordOutcomes, writtenCells } from '../store/actions.ts';
import { hold } from '../store/held.ts';
import { forgetWrites, type HistoryEntry, recordHistory } from '../store/history.ts';
import { intentsLinked } from '../store/intents.ts';
import { forgetPairs, markLeadDeleted, advanceBaselines, placesOf, rowsThere } from '../store/pairs.ts';
import { heldOfLeads } from '../store/row-facts.ts';
import { forgetMatches } from '../store/matches.ts';
import { type Run, updateRun } from '../store/runs.ts';
import type { RowOutcome } from '../ports/target.ts';
import { inLeasedTransaction, type StepContext } from './context.ts';
import { basesOfMatched, isMatched } from './matched-rows.ts';
import { pushNewRows } from './push-new-rows.ts';
import { readable, rowChange } from './row-change.ts';
import { settleUndoneRows } from './settle-undone-rows.ts';
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
        rowChange(run, action, deleted, status(action), was.get(action.leadId ?? '')),
      );
    },
    commit: (actions, outcomeOf) => commit(context, run, actions, outcomeOf),
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
  const entries = replacing.flatMap((action): HistoryEntry[] => {
    const changes = Object.entries(historyOf(run, action)).filter(([, { from }]) => from !== null);
    if (changes.length === 0) return [];
    const { id: actionId, leadId } = action;
    return [{ leadId: leadId ?? '', side: 'row', changes: Object.fromEntries(changes), actionId }];
  });
  await forgetWrites(db, run, idsOf(replacing));
  await recordHistory(db, run, entries);
  await countTries(db, idsOf(actions));
}

/** Whether there is a row already that an action writes to. */
const isReplacing = ({ kind }: Action): boolean => kind !== 'create-row';

const idsOf = (actions: readonly Action[]): readonly number[] => actions.map(({ id }) => id);

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

function commit(
  context: StepContext,
  run: Run,
  actions: readonly Action[],
  outcomeOf: (key: string) => RowOutcome,
): Promise<void> {
  const ended = actions.map((action) => ({ action, ...fateOf(run, outcomeOf(String(action.id))) }));
  const done = ended.flatMap(({ action, state }) => (state === 'done' ? [action] : []));
  const shown = done.flatMap(({ id, leadId, kind, changes }) => {
    if (leadId === null || !['create-row', 'update-row', 'link'].includes(kind)) return [];
    const outcome = outcomeOf(String(id));
    const row = outcome.status === 'done' ? outcome.row : undefined;
    return [{ leadId, row, values: readable(writtenCells(changes)) }];
  });
  const edited = done.filter(isReplacing);
  const deleted = done.filter((action) => action.kind === 'mark-row' || action.kind === 'remove-row');
  const linked = done.flatMap((action) =>
    action.kind === 'link' && action.intentId !== null ? [action.intentId] : [],
  );

  return inLeasedTransaction(context, async (db) => {
    const bases = await basesOfMatched(db, run, done.filter(isMatched));
    await recordOutcomes(
      db,
      ended.map(({ action, ...fate }) => ({ actionId: action.id, ...fate })),
    );
    await hold(
      db,
      run,
      ended.flatMap(({ action: { leadId, row }, state, code, message }) =>
        state === 'held' ? [{ leadId, row, code, message }] : [],
      ),
    );
    // Of one that was begun before, and is not done now, the first write may have come about.
    const known = ended.filter(({ action, state }) => state === 'done' || action.tries === 0);
    await forgetWrites(db, run, idsOf(known.map(({ action }) => action).filter(isReplacing)));
    await recordHistory(
      db,
      run,
      edited.map((action) => ({ leadId: action.leadId ?? '', side: 'row', changes: historyOf(run, action) })),
    );
    await intentsLinked(db, linked);
    // Of the others it is noted with the baseline.
    const toNote = run.undoOf === null ? shown.filter(({ row }) => row === undefined) : shown;
    await rowsThere(
      db,
      run.connection,
      toNote.map(({ leadId }) => leadId),
    );
    if (run.undoOf === null) {
      const moves = shown.map((move) => ({ ...move, values: { ...move.values, ...bases.get(move.leadId) } }));
      await advanceBaselines(db, run.connection, moves);
      await forgetMatches(db, run.connection, [...bases.keys()]);
      await markLeadDeleted(
        db,
        run.connection,
        deleted.map((action) => action.leadId ?? ''),
      );
      // Their leads are gone: the next sync makes new ones of the rows.
      const unlinked = done.filter(({ kind }) => kind === 'unlink');
      await forgetPairs(
        db,
        run.connection,
        unlinked.map(({ leadId }) => leadId ?? ''),
      );
    } else await settleUndoneRows(context, db, run, run.undoOf, done);
    await updateRun(db, run.id, { tries: 0 });
  });
}

/** What an outcome is to an action. */
function fateOf(run: Run, outcome: RowOutcome) {
  if (outcome.status === 'done') return { state: 'done' } as const;
  const { status, code, message } = outcome;
  // A table without a status column cannot be marked: the row stays as it is and the deletion is remembered here.
  if (code === 'target.no-status-column') return { state: 'done', code } as const;
  // Nothing is wrong with the row: only the undo cannot have it.
  const isUndosOwn = code === 'row.has-own-cells' && run.undoOf !== null;
  return { state: isUndosOwn ? 'put-off' : status, code, message } as const;
}

/** A removed row is kept in the history cell by cell. */
function historyOf(run: Run, action: Action): Action['changes'] {
  if (action.kind !== 'remove-row') return action.changes;
  const rule = run.undoOf === null ? 'lead-edited' : 'undone';
  return Object.fromEntries(
    Object.entries(action.expect).map(([field, from]) => [field, { from, to: null, rule } as const]),
  );
}
