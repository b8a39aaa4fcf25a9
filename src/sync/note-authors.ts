import { LeadsyncError } from '../errors.ts';
import type { Author } from '../core/lead/author.ts';
import type { Run } from '../store/runs.ts';
import { forgetAuthors, storeAuthors, unaskedCells } from '../store/value-authors.ts';
import { inLeasedTransaction, type StepContext } from './context.ts';

/** The most cells whose authors a run requests; the next run requests the rest. */
const mostAsked = 500;

/**
 * Requests from the target who changed its cells that are in conflict, and stores it. Without a conflict there is no
 * request. When the target fails, the next run requests them again.
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
    log.info({ run: run.id, code: error.code }, 'the target did not say who changed the values in conflict');
  }
  const known = authors;
  await inLeasedTransaction(context, (db) =>
    known === null ? forgetAuthors(db, run, cells) : storeAuthors(db, run, cells, known),
  );
}
