import type pg from 'pg';
import type { Run } from '../store/runs.ts';
import type { RowChange, RowOutcome } from '../ports/target.ts';
import { inLeasedTransaction, type StepContext } from './context.ts';
import { markOf } from './table-mark.ts';

/** A kind of batches, and what is done with each. */
interface BatchWriter<Batch> {
  readonly batches: AsyncIterable<Batch>;
  /** Puts on record that the write of a batch is about to begin. */
  readonly begin: (db: pg.PoolClient, batch: Batch) => Promise<void>;
  readonly changes: (batch: Batch) => Promise<readonly RowChange[]>;
  /** Stores what became of a batch. `outcomeOf`: by the key of a change. */
  readonly commit: (batch: Batch, outcomeOf: (key: string) => RowOutcome) => Promise<void>;
}

/** Writes batches to the target, each as a whole. What became of one is stored while the next one is written. */
export async function writeBatches<Batch>(
  context: StepContext,
  run: Run,
  { batches, begin, changes, commit }: BatchWriter<Batch>,
): Promise<void> {
  // Should this fail, the lease waits for what is stored.
  let storing = Promise.resolve();
  let mark: Awaited<ReturnType<typeof markOf>>;
  for await (const batch of batches) {
    // What is known to be written is stored before the run stops: its transaction may not have begun yet.
    if (context.stop.aborted) await storing;
    context.stop.throwIfAborted();
    await inLeasedTransaction(context, (db) => begin(db, batch));
    const toWrite = await changes(batch);
    mark ??= await markOf(context, run);
    // A write that has begun may end, so that it is also looked where it arrived.
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
