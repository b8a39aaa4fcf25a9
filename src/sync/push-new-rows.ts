import { inStep } from '../core/merge/row-status.ts';
import { countAttempts } from '../store/actions.ts';
import type { Run } from '../store/runs.ts';
import { type NewRow, type NewRows, newRowsToWrite } from '../store/new-rows.ts';
import { analyzePairs, isMany } from '../store/statistics.ts';
import { charactersIn, mostTogether } from '../core/lead/text-size.ts';
import type { RowChange } from '../ports/target.ts';
import { commitNewRows } from './commit.ts';
import type { StepContext } from './context.ts';
import { writeBatches } from './write-batches.ts';

/** Writes the rows of very many new leads. Lines that were not written get an action of their own. */
export async function pushNewRows(context: StepContext, run: Run): Promise<void> {
  const shown = context.connection.target.statusColumn === undefined ? {} : { status: inStep };
  let pairs = 0;
  await writeBatches(context, run, {
    batches: batchesOf(context, run),
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
async function* batchesOf({ pool, target }: StepContext, run: Run): AsyncGenerator<readonly NewRows[]> {
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
