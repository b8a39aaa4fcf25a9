import type pg from 'pg';
import { counted } from '../lead/counted.ts';
import { LeadsyncError } from '../errors.ts';
import { leadCells } from '../lead/lead.ts';
import { clearStaging, type Run, type RunPatch, updateRun } from '../store/runs.ts';
import { rememberRejectedLimit } from '../store/page-limits.ts';
import { loadMet, type MetPairs } from '../store/met-pairs.ts';
import { countCursors, stageLeads, useCursors } from '../store/staging.ts';
import { holding, scopeOf, type StepContext } from './context.ts';
import type { LeadPage } from './leads-port.ts';
import { readAhead } from './read-ahead.ts';
import { endless, usualScanBounds } from './scan-bounds.ts';

/** Pages that are stored together; as many are asked for meanwhile. */
const pagesTogether = 8;

/**
 * Pages through all leads and stages what moved; the next page is asked for while the last ones are stored. What is stored is a
 * checkpoint, with the cursor of the next page, so that a killed run goes on there.
 */
export async function pull(context: StepContext, run: Run): Promise<Run> {
  let current = run;
  while (current.phase === 'pull') {
    context.stop.throwIfAborted();
    const met = await loadMet(context.pool, run.id, 'lead');
    try {
      for await (const pages of readAhead(pagesOf(context, current), pagesTogether)) {
        current = await storePages(context, current, pages, met);
      }
    } catch (error) {
      current = await goOnOtherwise(context, current, error);
    }
  }
  return current;
}

/** The pages from the run's cursor on; the last one may have a cursor that an earlier one had, which is not asked again. */
async function* pagesOf(context: StepContext, run: Run): AsyncGenerator<LeadPage, void> {
  const limit = run.sendLimit ? context.connection.leads.pageSize : null;
  const asked = new Set<string | null>();
  let { cursor } = run;
  do {
    asked.add(cursor);
    context.stop.throwIfAborted();
    const page = await context.leads.list({ cursor, limit }, context.cut);
    yield page;
    cursor = page.nextCursor;
  } while (cursor !== null && !asked.has(cursor));
}

async function goOnOtherwise(context: StepContext, run: Run, error: unknown): Promise<Run> {
  const instead =
    error instanceof LeadsyncError && error.code === 'leads.rejected' ? afterRejection(run) : null;
  if (instead === null) throw error;
  const message = instead.scanRestarted
    ? 'the service rejects the cursor of the next page; the scan begins again'
    : 'the service rejects `limit`; pages are asked for without it, as many leads as it likes on each';
  context.log.info({ run: run.id, code: 'leads.rejected' }, message);
  return holding(context, async (db) => {
    if (instead.scanRestarted) await clearStaging(db, run.id);
    return updateRun(db, run.id, instead);
  });
}

/**
 * What to try when the service rejects a page request (docs/architecture.md 3): a first page without `limit`; a later page, whose
 * cursor may have expired, once more from the beginning. Null: nothing is left to try.
 */
function afterRejection(run: Run): RunPatch | null {
  if (run.cursor === null) return run.sendLimit ? { sendLimit: false } : null;
  if (run.scanRestarted) return null;
  return { cursor: null, scanRestarted: true, scanTorn: true, pages: 0, pulled: 0, pulledBytes: 0 };
}

/** Pages with unusable items that a run lists; of more it is known well enough. */
const mostProblems = 20;

function storePages(context: StepContext, run: Run, pages: readonly LeadPage[], met: MetPairs): Promise<Run> {
  const { scanBounds = usualScanBounds } = context;
  const { fields } = context.connection;
  const leads = pages.flatMap((page) => page.leads);
  const invalid = pages.reduce((sum, page) => sum + page.invalidItems, 0);
  const cursor = pages.at(-1)?.nextCursor ?? null;
  const scanned = new Map(
    leads.map((lead) => [lead.id, { leadId: lead.id, cells: leadCells(lead, fields) }]),
  );
  const store = async (db: pg.PoolClient): Promise<Run> => {
    const cursors = pages.flatMap(({ nextCursor }) => (nextCursor === null ? [] : [nextCursor]));
    if (!(await useCursors(db, run.id, cursors))) {
      throw new LeadsyncError(
        'leads.cursor-repeated',
        'the service returned a cursor that this scan has used before',
        {
          help: 'The scan was given up to avoid an endless loop; nothing was changed. Report this to the service.',
        },
      );
    }
    if (!run.sendLimit && run.pages === 0)
      await rememberRejectedLimit(db, scopeOf(context.connection), context.connection.leads.pageSize);
    const stored = await stageLeads(db, run, [...scanned.values()], fields, met);
    const pulledBytes = run.pulledBytes + stored.bytes;
    if (pulledBytes > scanBounds.bytes)
      throw endless('leads', `it sent ${run.pulled + scanned.size} leads of ${pulledBytes} bytes`);
    const repeated = leads.length - scanned.size + stored.repeated;
    const pulled = run.pulled + leads.length - repeated;
    // Of a page that has any, at least one lead is new: pages above their number had none.
    const mayBeBarren = repeated > 0 || pages.some((page) => page.leads.length === 0);
    if (mayBeBarren && (await countCursors(db, run.id)) > pulled + scanBounds.barrenPages)
      throw endless('leads', `more than ${scanBounds.barrenPages} pages had no new lead`);
    return updateRun(db, run.id, {
      cursor,
      phase: cursor === null ? 'read' : 'pull',
      pages: run.pages + pages.length,
      pulled,
      pulledBytes,
      scanTorn: run.scanTorn || repeated > 0 || invalid > 0,
      tries: 0,
      ...(invalid > 0 && {
        problems: [...run.problems, ...pages.flatMap(invalidItems)].slice(0, mostProblems),
      }),
    });
  };
  return holding(context, store, 'repeatable');
}

function invalidItems({ invalidItems: count }: LeadPage): Run['problems'] {
  if (count === 0) return [];
  const message = `${counted(count, 'item of a page has no usable id and was', 'items of a page have no usable id and were')} left out`;
  return [{ code: 'leads.item-invalid', message }];
}
