import { inStep } from '../core/merge/row-status.ts';
import type { Run } from '../store/runs.ts';
import { type PageLine, pagesBegun, pagesToWrite, type ScanPage } from '../store/scan-pages.ts';
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
    begin: pagesBegun,
    async changes(batch) {
      return batch.flatMap((page) => {
        const isRepeated = page.attempts > 0;
        return linesOf(page).map(([leadId, values]): RowChange => {
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

function linesOf({ lines }: ScanPage): readonly PageLine[] {
  return lines.filter((line) => line !== null);
}

/** Pages that are written together. */
async function* batchesOf({ pool, target }: StepContext, run: Run): AsyncGenerator<readonly ScanPage[]> {
  let batch: ScanPage[] = [];
  let [count, size] = [0, 0];
  for await (const page of pagesToWrite(pool, run)) {
    const characters = charactersIn(page.lines);
    const isFull = count + page.lines.length > target.batchSize || size + characters > mostTogether;
    if (isFull && batch.length > 0) {
      yield batch;
      [batch, count, size] = [[], 0, 0];
    }
    batch.push(page);
    count += page.lines.length;
    size += characters;
  }
  if (batch.length > 0) yield batch;
}
