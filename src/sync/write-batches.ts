import type pg from 'pg';
import type { Run } from '../store/runs.ts';
import type { RowChange, RowOutcome } from '../ports/target.ts';
import { inLeasedTransaction, type StepContext } from './context.ts';
import { markOf } from './table-mark.ts';

/** Batches, and how each is begun, written and stored. */
interface BatchWriter<Batch> {
  readonly batches: AsyncIterable<Batch>;
  /** Records that the write of a batch is about to begin. */
  readonly begin: (db: pg.PoolClient, batch: Batch) => Promise<void>;
  readonly changes: (batch: Batch) => Promise<readonly RowChange[]>;
  /** Stores the outcomes of a batch. `outcomeOf`: by the key of a change. */
  readonly commit: (batch: Batch, outcomeOf: (key: string) => RowOutcome) => Promise<void>;
}

/** Writes batches to the target, each as a whole, and stores the outcomes of one while the next is written. */
export async function writeBatches<Batch>(
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
