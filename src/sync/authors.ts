import type { AskedCell, Author } from '../core/lead/author.ts';
import type { Policy } from '../core/merge/policy.ts';
import { LeadsyncError } from '../errors.ts';
import { shownBefore, stagedCells, whatIsKnown } from '../store/earlier-values.ts';
import { movedFields } from '../store/mapped-columns.ts';
import type { Run } from '../store/runs.ts';
import { forgetAuthors, storeAuthors, unaskedCells } from '../store/value-authors.ts';
import { inLeasedTransaction, type StepContext } from './context.ts';
import type { Doubts } from './find-older-copy.ts';

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

/** More cells than this are evidence without an import. */
const few = 2;

/**
 * Evidence that an old list was imported into HubSpot: one import wrote all of the one or two cells that show an earlier
 * value. Costs one request, only where there are such cells. Throws retryable errors of the target.
 */
export async function doubtOfImport(context: StepContext, run: Run, policy: Policy): Promise<Doubts> {
  const cells = await fewPutBack(context, run, policy);
  if (cells.length === 0) return {};
  const [first, ...others] = await authorsOf(context, cells);
  const list = first?.source;
  if (list?.type !== 'IMPORT' || list.id === null) return {};
  const isOne = others.every((author) => author?.source?.type === list.type && author.source.id === list.id);
  return isOne ? { row: { reason: `an import into HubSpot (number ${list.id}) wrote all of it` } } : {};
}

async function fewPutBack(
  { pool, connection }: StepContext,
  run: Run,
  policy: Policy,
): Promise<readonly AskedCell[]> {
  if (connection.target.type !== 'hubspot' || !(await whatIsKnown(pool, run.connection)).hasMoved) return [];
  const moved = await movedFields(pool, run.connection, policy.fields);
  const fields = policy.fields.flatMap(({ field, direction }) =>
    direction === 'to-target' || moved.has(field) ? [] : [field],
  );
  const found = new Map<string, { readonly leadId: string; readonly field: string }>();
  for await (const { leadId, field } of shownBefore(pool, run, 'row', fields)) {
    found.set(`${leadId} ${field}`, { leadId, field });
    if (found.size > few) return [];
  }
  return found.size === 0 ? [] : stagedCells(pool, run, [...found.values()]);
}

async function authorsOf(
  { target, cut }: StepContext,
  cells: readonly AskedCell[],
): Promise<readonly (Author | null)[]> {
  try {
    return (await target.authors?.(cells, cut)) ?? [];
  } catch (error) {
    if (error instanceof LeadsyncError && error.retry === 'never') return [];
    throw error;
  }
}
