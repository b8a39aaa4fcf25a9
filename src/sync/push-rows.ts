import type pg from 'pg';
import { rowKinds } from '../core/merge/action.ts';
import { putsBack } from '../core/merge/undo.ts';
import {
  type ConflictFact,
  deletedText,
  inStep,
  type RowStanding,
  rowStatus,
} from '../core/merge/row-status.ts';
import { type Action, countAttempts, openActions } from '../store/actions.ts';
import { recordHistory } from '../store/history.ts';
import { placesOf } from '../store/pairs.ts';
import { conflictsOfLeads, rowStandings } from '../store/run-sights.ts';
import { type Run, updateRun } from '../store/runs.ts';
import type { RowChange, RowOutcome } from '../ports/target.ts';
import { commitNewRows, commitRows, isReplacing, rowChange, rowHistory, type RowResult } from './commit.ts';
import { inLeasedTransaction, type StepContext } from './context.ts';
import { type NewRow, type NewRows, newRowsToWrite } from '../store/new-rows.ts';
import { analyzePairs, isMany } from '../store/database.ts';
import { charactersIn, mostTogether } from '../core/lead/text-size.ts';
import { markOf } from './table-mark.ts';
import { sameCell } from '../core/lead/value.ts';
import { columnsOf, type FieldMapping } from '../core/lead/mapping.ts';

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

/** An undo and a reviewed plan leave the texts to the next sync. */
export function showsStatus({ connection, runPolicy }: StepContext): boolean {
  return connection.target.statusColumn !== undefined && runPolicy.doesAll;
}

/**
 * Writes each row's state into its status cell, as the last write of a round. Only cells that show another text are
 * written, so nothing is recorded: the next run repairs what is missing.
 */
async function showStatus(context: StepContext, run: Run): Promise<void> {
  if (!showsStatus(context)) return;
  await writeBatches(context, run, {
    batches: statusBatches(context, run),
    begin: async () => {},
    changes: async (changes) => changes,
    async commit(changes, outcomeOf) {
      const refused = changes.filter(({ key }) => outcomeOf(key).status !== 'done').length;
      if (refused > 0) context.log.info({ run: run.id, refused }, 'some status cells cannot be written');
    },
  });
}

async function* statusBatches(
  { pool, connection, target }: StepContext,
  run: Run,
): AsyncGenerator<readonly RowChange[]> {
  const headings = columnsOf(connection.fields);
  const changes = new Map<string, RowChange>();
  for await (const standing of rowStandings(pool, run)) {
    const change = statusChange(standing, headings, changes.size);
    if (change !== null) changes.set(change.key, change);
    if (changes.size < target.batchSize) continue;
    yield [...changes.values()];
    changes.clear();
  }
  if (changes.size > 0) yield [...changes.values()];
}

/** The status of a new row when it is written. */
function newRowStatus(conflicts: readonly ConflictFact[], fields: readonly FieldMapping[]): string {
  const facts = {
    isCopy: false,
    conflicts,
    waiting: null,
    isListed: true,
    isOutside: false,
    deletedOn: null,
    shown: '',
  };
  return rowStatus(facts, columnsOf(fields)) ?? inStep;
}

/** Null: the row shows its status. The copies of a row are one change. */
function statusChange(
  standing: RowStanding,
  headings: ReadonlyMap<string, string>,
  number: number,
): RowChange | null {
  const { leadId, isCopy, cells, shown } = standing;
  const text = rowStatus(standing, headings);
  if (text === null || sameCell(shown, text)) return null;
  const place = leadId === null ? `row ${number}` : `${isCopy ? 'copies' : 'lead'} ${leadId.trim()}`;
  return { kind: 'status', key: place, leadId, copies: isCopy, expect: cells, shown, text };
}

/** Batches, and how each is begun, written and stored. */
interface BatchWriter<Batch> {
  readonly batches: AsyncIterable<Batch>;
  readonly begin: (db: pg.PoolClient, batch: Batch) => Promise<void>;
  readonly changes: (batch: Batch) => Promise<readonly RowChange[]>;
  /** Stores the outcomes of a batch. `outcomeOf`: by the key of a change. */
  readonly commit: (batch: Batch, outcomeOf: (key: string) => RowOutcome) => Promise<void>;
}

/** Writes batches to the target, each as a whole, and stores the outcomes of one while the next is written. */
async function writeBatches<Batch>(
  context: StepContext,
  run: Run,
  { batches, begin, changes, commit }: BatchWriter<Batch>,
): Promise<void> {
  let storing = Promise.resolve();
  let mark: Awaited<ReturnType<typeof markOf>>;
  for await (const batch of batches) {
    // Known outcomes are stored before the run stops: their transaction may not have begun yet.
    if (context.stop.aborted) await storing;
    context.stop.throwIfAborted();
    await inLeasedTransaction(context, (db) => begin(db, batch));
    const toWrite = await changes(batch);
    mark ??= await markOf(context, run);
    // `cut`, not `stop`: a write that has begun may end, and the target checks where it arrived.
    const outcomes = await context.target.write(toWrite, context.cut, mark);
    await storing;
    await mark?.confirm();
    const byKey = new Map(outcomes.map((outcome) => [outcome.key, outcome]));
    storing = commit(batch, (key) => {
      const outcome = byKey.get(key);
      if (outcome === undefined) throw new Error(`the target gave no outcome for ${key}`);
      return outcome;
    });
    storing.catch(() => {});
  }
  await storing;
}

/** Writes the rows of very many new leads. Lines that were not written get an action of their own. */
async function pushNewRows(context: StepContext, run: Run): Promise<void> {
  const shown = context.connection.target.statusColumn === undefined ? {} : { status: inStep };
  let pairs = 0;
  await writeBatches(context, run, {
    batches: newRowBatches(context, run),
    begin: countAttempts,
    async changes(batch) {
      return batch.flatMap((rows) => {
        const isRepeated = rows.attempts > 0;
        return linesOf(rows).map(([leadId, values]): RowChange => {
          return { kind: 'append', key: leadId, leadId, values, ...shown, isRepeated };
        });
      });
    },
    async commit(batch, outcomeOf) {
      const lines = batch.flatMap(linesOf).map((line) => ({ line, outcome: outcomeOf(line[0]) }));
      pairs += lines.length;
      await commitNewRows(context, run, lines, batch);
    },
  });
  if (isMany(pairs)) await analyzePairs(context.pool);
}

function linesOf({ body }: NewRows): readonly NewRow[] {
  return body.filter((line) => line !== null);
}

/** Those that are written together. */
async function* newRowBatches({ pool, target }: StepContext, run: Run): AsyncGenerator<readonly NewRows[]> {
  let batch: NewRows[] = [];
  let [count, size] = [0, 0];
  for await (const rows of newRowsToWrite(pool, run)) {
    const characters = charactersIn(rows.body);
    const isFull = count + rows.body.length > target.batchSize || size + characters > mostTogether;
    if (isFull && batch.length > 0) {
      yield batch;
      [batch, count, size] = [[], 0, 0];
    }
    batch.push(rows);
    count += rows.body.length;
    size += characters;
  }
  if (batch.length > 0) yield batch;
}
