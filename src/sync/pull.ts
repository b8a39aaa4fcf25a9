import type pg from 'pg';
import { setImmediate as written } from 'node:timers/promises';
import { counted } from '../core/lead/wording.ts';
import { leadCells } from '../core/lead/lead.ts';
import { shortHash } from '../core/lead/content-hash.ts';
import type { LiveScan } from '../core/merge/live-scan.ts';
import { charactersIn, mostTogether } from '../core/lead/text-size.ts';
import { LeadsyncError } from '../lib/errors.ts';
import type { LeadPage } from '../ports/leads-service.ts';
import { rememberPageSize } from '../store/services.ts';
import { clearScan, type Run, type RunPatch, updateRun } from '../store/runs.ts';
import { logLeads } from '../store/run-sights.ts';
import { inLeasedTransaction, isFiltered, scopeOf, type StepContext } from './context.ts';
import { readAhead } from './concurrency.ts';
import { barrenInARow, endless, usualScanBounds } from './scan-bounds.ts';

/** Leads logged together, of at most eight pages and not too many characters, while as many are requested. */
const leadsTogether = 800;
const pagesTogether = 8;

/** The page sizes to try when a service rejects a larger one; after them, no `limit`. */
const pageSizes = [500, 200, 100];

/** A page that takes longer (ms) is too large, unless it has at most this number of leads. */
const slowPage = { ms: 10_000, leads: 100 };

/**
 * Pages through all leads and keeps those that differ from the baseline; requests the next page while it logs the last
 * ones. Each log line is a checkpoint with the next cursor, so that a killed run continues there.
 */
export async function pull(context: StepContext, run: Run, scan: LiveScan): Promise<Run> {
  let current = run;
  while (current.phase === 'pull') {
    context.stop.throwIfAborted();
    try {
      const known: Known = { scan, barren: 0 };
      for await (const pages of readAhead(pagesOf(context, current), leadsTogether, weightOf)) {
        current = await storePages(context, current, pages, known);
      }
    } catch (error) {
      current = await goOnOtherwise(context, current, scan, error);
    }
  }
  return current;
}

interface RequestedPage extends LeadPage {
  /** The `limit` of the next page; see `Run`. */
  readonly pageSize: number;
  readonly characters: number;
}

function weightOf({ leads, characters }: RequestedPage): number {
  return Math.max(leads.length, leadsTogether / pagesTogether, (leadsTogether * characters) / mostTogether);
}

/**
 * The pages from the run's cursor on; ends at a cursor that was used before. The request for the next page is written
 * before a page is yielded.
 */
async function* pagesOf(context: StepContext, run: Run): AsyncGenerator<RequestedPage, void> {
  const request = pageRequests(context, run);
  const used = new Set([run.cursor]);
  let next: Promise<RequestedPage> | null = request(run.cursor);
  try {
    while (next !== null) {
      const page: RequestedPage = await next;
      next = null;
      const { nextCursor } = page;
      if (nextCursor !== null && !used.has(nextCursor)) {
        used.add(nextCursor);
        next = request(nextCursor);
        // Its error is thrown when it is awaited.
        next.catch(() => {});
        await written();
      }
      yield page;
    }
  } finally {
    await next?.catch(() => {});
  }
}

/** Requests pages, with half the `limit` after a page that was too large or too slow. */
function pageRequests(
  { leads, clock, stop, cut, connection, log }: StepContext,
  run: Run,
): (cursor: string | null) => Promise<RequestedPage> {
  let pageSize = run.pageSize ?? connection.leads.pageSize;
  const spent = (): number => clock.now() - leads.pacedMs;
  const halve = (least: number): boolean => {
    if (pageSize <= least) return false;
    pageSize = Math.max(least, Math.floor(pageSize / 2));
    log.info({ run: run.id, pageSize }, 'a page was too large or too slow: requesting fewer leads a page');
    return true;
  };
  return async (cursor) => {
    for (;;) {
      stop.throwIfAborted();
      const from = spent();
      const isSlow = (): boolean => spent() - from > slowPage.ms;
      try {
        const page = await leads.list({ cursor, limit: pageSize || null }, cut);
        if (isSlow()) halve(slowPage.leads);
        const characters = charactersIn(page.leads);
        if (characters > mostTogether) halve(1);
        return { ...page, pageSize, characters };
      } catch (error) {
        const code = error instanceof LeadsyncError ? error.code : '';
        const isTooMuch =
          (code === 'leads.too-large' && halve(1)) ||
          (code === 'leads.unavailable' && isSlow() && halve(slowPage.leads));
        if (!isTooMuch) throw error;
      }
    }
  };
}

async function goOnOtherwise(context: StepContext, run: Run, scan: LiveScan, error: unknown): Promise<Run> {
  const instead =
    error instanceof LeadsyncError && error.code === 'leads.rejected' ? afterRejection(context, run) : null;
  if (instead === null) throw error;
  const message = instead.scanRestarted
    ? 'the service rejects the cursor of the next page: the scan begins again'
    : 'the service rejects `limit`: requesting fewer leads a page, or (0) without a limit';
  context.log.info({ run: run.id, code: 'leads.rejected', pageSize: instead.pageSize }, message);
  if (instead.scanRestarted) scan.forgetLeads();
  return inLeasedTransaction(context, async (db) => {
    if (instead.scanRestarted) await clearScan(db, run.id);
    return updateRun(db, run.id, instead);
  });
}

/**
 * What to try after a rejected page request (docs/architecture.md 3): for a first page a lower `limit`, at last none; for a
 * later page, whose cursor may have expired, one new scan. Null: nothing.
 */
function afterRejection({ connection }: StepContext, run: Run): RunPatch | null {
  const pageSize = run.pageSize ?? connection.leads.pageSize;
  if (run.cursor === null)
    return pageSize === 0 ? null : { pageSize: pageSizes.find((size) => size < pageSize) ?? 0 };
  if (run.scanRestarted) return null;
  return { cursor: null, scanRestarted: true, scanIncomplete: true, pages: 0, pulled: 0, pulledBytes: 0 };
}

/** The most pages with unusable items that a report lists. */
const mostProblems = 20;

/** What a scan knows beside its checkpoints. */
interface Known {
  readonly scan: LiveScan;
  /** Pages in a row without a new lead; a resumed scan begins to count again. */
  barren: number;
}

function storePages(
  context: StepContext,
  run: Run,
  pages: readonly RequestedPage[],
  known: Known,
): Promise<Run> {
  const { scanBounds = usualScanBounds } = context;
  const { scan } = known;
  const { fields, leads: settings } = context.connection;
  const leads = pages.flatMap((page) => page.leads);
  const invalid = pages.reduce((sum, page) => sum + page.invalidItems, 0);
  const cursor = pages.at(-1)?.nextCursor ?? null;
  const scanned = new Map(leads.map((lead) => [lead.id, leadCells(lead, fields)]));
  const store = async (db: pg.PoolClient): Promise<Run> => {
    const cursors = pages.flatMap(({ nextCursor }) => (nextCursor === null ? [] : [shortHash(nextCursor)]));
    if (!scan.useCursors(cursors)) {
      const message = 'the service returned a cursor that this scan has used before';
      throw new LeadsyncError('leads.cursor-repeated', message, {
        help: 'The scan was given up to avoid an endless loop; nothing was changed. Report this to the service.',
      });
    }
    const { pageSize = settings.pageSize } = pages.at(-1) ?? {};
    if (pageSize !== (run.pages === 0 ? settings.pageSize : run.pageSize))
      await rememberPageSize(db, scopeOf(context.connection), settings.pageSize, pageSize);
    const again = [...scanned].flatMap(([id, cells]) => (scan.seeLead(id, cells) ? [id] : []));
    const checkpoint = scan.takeLeads(cursors);
    await logLeads(db, run.id, checkpoint);
    const pulledBytes = run.pulledBytes + Buffer.byteLength(checkpoint.leads);
    if (pulledBytes > scanBounds.bytes)
      throw endless('leads', `it sent ${run.pulled + scanned.size} leads of ${pulledBytes} bytes`);
    const repeated = leads.length - scanned.size + again.length;
    const pulled = run.pulled + leads.length - repeated;
    const ids = pages.map((page) => page.leads.map(({ id }) => id));
    const barren = barrenInARow(known.barren, ids, again, isFiltered(context));
    if (cursor !== null && barren > scanBounds.barrenPages)
      throw endless(
        'leads',
        `page after page (${run.pages + pages.length} so far) had no new lead, but a cursor of a next page`,
      );
    known.barren = barren;
    return updateRun(db, run.id, {
      cursor,
      phase: cursor === null ? 'read' : 'pull',
      pages: run.pages + pages.length,
      pageSize,
      pulled,
      pulledBytes,
      scanIncomplete: run.scanIncomplete || repeated > 0 || invalid > 0,
      attempts: 0,
      moves: scan.base.moves,
      ...(invalid > 0 && {
        problems: [...run.problems, ...pages.flatMap(invalidItems)].slice(0, mostProblems),
      }),
    });
  };
  return inLeasedTransaction(context, store, 'repeatable');
}

function invalidItems({ invalidItems: count }: LeadPage): Run['problems'] {
  if (count === 0) return [];
  const message = `${counted(count, 'item of a page has no usable id and was', 'items of a page have no usable id and were')} left out`;
  return [{ code: 'leads.item-invalid', message }];
}
