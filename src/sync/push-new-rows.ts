import { inStep } from '../core/merge/row-status.ts';
import type { Run } from '../store/runs.ts';
import {
  type PageLine,
  pagesBegun,
  pagesToWrite,
  type ScanPage,
  type EndedPage,
} from '../store/scan-pages.ts';
import { analyzePairs, isMany } from '../store/statistics.ts';
import { charactersIn, mostTogether } from '../core/lead/text-size.ts';
import type { RowChange } from '../ports/target.ts';
import { commitNewRows } from './commit.ts';
import type { StepContext } from './context.ts';
import { writeBatches } from './write-batches.ts';

/** Lines of a page that are written together. */
interface Piece {
  readonly page: WrittenPage;
  readonly from: number;
  readonly to: number;
}

/** A page, and its lines that have an action of their own. */
interface WrittenPage extends ScanPage {
  readonly own: Set<string>;
}

/** Writes the rows of very many new leads. Lines that were not written get an action of their own. */
export async function pushNewRows(context: StepContext, run: Run): Promise<void> {
  const shown = context.connection.target.statusColumn === undefined ? {} : { status: inStep };
  let pairs = 0;
  await writeBatches(context, run, {
    batches: batchesOf(context, run),
    begin: (db, batch) =>
      pagesBegun(
        db,
        batch.map(({ page, to }) => ({ id: page.id, to })),
      ),
    async changes(batch) {
      const repeated = new Set(batch.flatMap(({ page, from }) => page.lines.slice(from, page.begun)));
      return linesOf(batch).map((line): RowChange => {
        const [leadId, values] = line;
        return { kind: 'append', key: leadId, leadId, values, ...shown, isRepeated: repeated.has(line) };
      });
    },
    async commit(batch, outcomeOf) {
      const lines = linesOf(batch).map((line) => ({ line, outcome: outcomeOf(line[0]) }));
      pairs += lines.length;
      const pagesWithout = (own: ReadonlySet<string>) => batch.map((piece) => settledPiece(piece, own));
      const own = await commitNewRows(context, run, lines, pagesWithout);
      if (own.size === 0) return;
      for (const { page } of batch)
        for (const line of page.lines) if (line !== null && own.has(line[0])) page.own.add(line[0]);
    },
  });
  if (isMany(pairs)) await analyzePairs(context.pool);
}

function linesOf(batch: readonly Piece[]): readonly PageLine[] {
  return batch.flatMap(({ page, from, to }) => page.lines.slice(from, to)).filter((line) => line !== null);
}

async function* batchesOf({ pool, target }: StepContext, run: Run): AsyncGenerator<readonly Piece[]> {
  let batch: Piece[] = [];
  let [count, size] = [0, 0];
  for await (const read of pagesToWrite(pool, run)) {
    const page = { ...read, own: new Set<string>() };
    for (let from = page.settled; from < page.lines.length; ) {
      let to = from;
      const isFull = (): boolean => count >= target.batchSize || size >= mostTogether;
      do {
        size += charactersIn(page.lines[to++]);
        count += 1;
      } while (to < page.lines.length && !isFull());
      batch.push({ page, from, to });
      from = to;
      if (!isFull()) continue;
      yield batch;
      [batch, count, size] = [[], 0, 0];
    }
  }
  if (batch.length > 0) yield batch;
}

/** `others`: the lead ids of lines that get an action of their own. */
function settledPiece({ page, to }: Piece, others: ReadonlySet<string>): EndedPage {
  const own = page.lines.filter((line) => line !== null && others.has(line[0])).length;
  const settled = { id: page.id, to, taken: page.taken + page.own.size + own };
  if (own === 0) return settled;
  const isOwn = (line: PageLine | null): boolean =>
    line !== null && (others.has(line[0]) || page.own.has(line[0]));
  return { ...settled, left: page.lines.map((line) => (isOwn(line) ? null : line)) };
}
