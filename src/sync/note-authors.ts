import { LeadsyncError } from '../errors.ts';
import type { Author } from '../core/lead/author.ts';
import type { Run } from '../store/runs.ts';
import { forgetAuthors, storeAuthors, unaskedCells } from '../store/value-authors.ts';
import { inLeasedTransaction, type StepContext } from './context.ts';

/** Cells of which a run asks who changed them: the others are asked for by the next one, if they are still held. */
const mostAsked = 500;

/**
 * Asks the target who changed its cells that the plan found in conflicts, and remembers it. Without a conflict nothing is
 * asked. A target that does not answer fails nothing: then it is not known, and the next run asks again.
 */
export async function noteAuthors(context: StepContext, run: Run): Promise<void> {
  const { target, pool, log, cut, connection } = context;
  if (target.authors === undefined) return;
  const isDecided = connection.sync.onConflict !== 'hold';
  const cells = await unaskedCells(pool, run, { limit: mostAsked, isDecided });
  if (cells.length === 0) return;
  let authors: readonly (Author | null)[] | null = null;
  try {
    authors = await target.authors(cells, cut);
  } catch (error) {
    if (cut.aborted || !(error instanceof LeadsyncError)) throw error;
    log.info({ run: run.id, code: error.code }, 'the target did not tell who changed what is in conflict');
  }
  const known = authors;
  await inLeasedTransaction(context, (db) =>
    known === null ? forgetAuthors(db, run, cells) : storeAuthors(db, run, cells, known),
  );
}
