import type pg from 'pg';
import { rowKinds } from '../merge/action.ts';
import { deletedText } from '../merge/row-status.ts';
import {
  type Action,
  type ActionOutcome,
  countTries,
  pendingActions,
  settleActions,
  writtenCells,
} from '../store/actions.ts';
import { hold } from '../store/held.ts';
import { forgetWrites, type HistoryEntry, recordHistory } from '../store/history.ts';
import { intentsLinked } from '../store/intents.ts';
import { forgetPairs, markLeadDeleted, moveBase, placesOf, rowsThere } from '../store/pairs.ts';
import { heldOfLeads } from '../store/row-facts.ts';
import { forgetMatches } from '../store/matches.ts';
import { type Run, updateRun } from '../store/runs.ts';
import type { RowOutcome } from '../targets/target.ts';
import { holding, type StepContext } from './context.ts';
import { basesOfMatched, isMatched } from './matched-rows.ts';
import { pushNewRows } from './push-new-rows.ts';
import { readable, rowChange } from './row-change.ts';
import { settleUndoneRows } from './settle-undone-rows.ts';
import { newRowStatus, showStatus } from './show-status.ts';
import { markOf } from './table-mark.ts';

/**
 * Carries out what concerns the target, in batches that the target applies as a whole. The baseline moves only for
 * changes that the target confirmed; a batch whose confirmation was lost is simply written again.
 */
export async function pushRows(context: StepContext, run: Run): Promise<Run> {
  const { target } = context;
  let next = following(context, run, 0);
  // What became of a batch is stored while the next one is written. Should that fail, the lease waits for what is stored.
  let storing = Promise.resolve();
  let mark: Awaited<ReturnType<typeof markOf>>;
  for (;;) {
    // What is known to be written is stored before the run stops: its transaction may not have begun yet.
    if (context.stop.aborted) await storing;
    context.stop.throwIfAborted();
    const actions = await next;
    const last = actions.at(-1);
    if (last === undefined) break;
    next = following(context, run, last.id);
    await holding(context, (db) => recordBegun(db, run, actions));
    const status = await statusOfNewRows(context, actions);
    const created = actions.flatMap(({ kind, leadId }) => (kind === 'create-row' ? (leadId ?? []) : []));
    const was = await placesOf(context.pool, run.connection, created);
    const deleted = deletedText(day(context.clock.now()));
    mark ??= await markOf(context, run);
    const outcomes = await target.write(
      actions.map((action) => rowChange(run, action, deleted, status(action), was.get(action.leadId ?? ''))),
      // A write that has begun may end, so that it is also looked where it arrived.
      context.cut,
      mark,
    );
    await storing;
    await mark?.settle();
    storing = commit(context, run, actions, outcomes);
    storing.catch(() => {});
  }
  await storing;
  await pushNewRows(context, run);
  await showStatus(context, run);
  return holding(context, (db) => updateRun(db, run.id, { phase: 'receipt' }));
}

/** The next batch after an action. Asked for while the one before is written; that may fail first. */
function following({ pool, target }: StepContext, run: Run, after: number): Promise<readonly Action[]> {
  const actions = pendingActions(pool, run, rowKinds, target.batchSize, after);
  actions.catch(() => {});
  return actions;
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
  outcomes: readonly RowOutcome[],
): Promise<void> {
  const byKey = new Map(outcomes.map((outcome) => [outcome.key, outcome]));
  const byId = new Map(actions.map((action) => [action.id, action]));
  const states: ActionOutcome[] = actions.map((action) => {
    const outcome = byKey.get(String(action.id));
    if (outcome === undefined) throw new Error(`the target gave no outcome for action ${action.id}`);
    if (outcome.status === 'done') return { actionId: action.id, state: 'done' };
    // A table without a status column cannot be marked: the row stays as it is and the deletion is remembered here.
    const { code, message } = outcome;
    if (code === 'target.no-status-column') return { actionId: action.id, state: 'done', code };
    // Nothing is wrong with the row: only the undo cannot have it.
    const isUndosOwn = code === 'row.has-own-cells' && run.undoOf !== null;
    const state = isUndosOwn ? 'put-off' : outcome.status;
    return { actionId: action.id, state, code, message };
  });
  const doneIds = new Set(states.filter((state) => state.state === 'done').map((state) => state.actionId));
  const done = actions.filter((action) => doneIds.has(action.id));
  const shown = done.flatMap(({ id, leadId, kind, changes }) => {
    if (leadId === null || !['create-row', 'update-row', 'link'].includes(kind)) return [];
    const outcome = byKey.get(String(id));
    const row = outcome?.status === 'done' ? outcome.row : undefined;
    return [{ leadId, row, values: readable(writtenCells(changes)) }];
  });
  const edited = done.filter(isReplacing);
  const deleted = done.filter((action) => action.kind === 'mark-row' || action.kind === 'remove-row');
  const linked = done.flatMap((action) =>
    action.kind === 'link' && action.intentId !== null ? [action.intentId] : [],
  );

  return holding(context, async (db) => {
    const bases = await basesOfMatched(db, run, done.filter(isMatched));
    await settleActions(db, states);
    await hold(
      db,
      run,
      states.flatMap((state) => heldOutcome(state, byId)),
    );
    // Of one that was begun before, and is not done now, the first write may have come about.
    const isKnown = ({ id, tries }: Action): boolean => doneIds.has(id) || tries === 0;
    await forgetWrites(db, run, idsOf(actions.filter((action) => isReplacing(action) && isKnown(action))));
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
      await moveBase(db, run.connection, moves);
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

/** A removed row is kept in the history cell by cell. */
function historyOf(run: Run, action: Action): Action['changes'] {
  if (action.kind !== 'remove-row') return action.changes;
  const rule = run.undoOf === null ? 'lead-edited' : 'undone';
  return Object.fromEntries(
    Object.entries(action.expect).map(([field, from]) => [field, { from, to: null, rule } as const]),
  );
}

function heldOutcome(state: ActionOutcome, byId: ReadonlyMap<number, Action>) {
  const action = byId.get(state.actionId);
  if (state.state !== 'held' || action === undefined) return [];
  return [
    {
      leadId: action.leadId,
      rowKey: '',
      field: '',
      row: action.row,
      code: state.code ?? 'row.refused',
      message: state.message ?? 'the target does not take this change',
      lead: null,
      rowValue: null,
    },
  ];
}
