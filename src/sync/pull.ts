import { LeadsyncError } from '../errors.ts';
import { readableFingerprint } from '../lead/fingerprint.ts';
import { type Lead, leadCells } from '../lead/lead.ts';
import { clearStaging, type Run, type RunPatch, updateRun } from '../store/runs.ts';
import { countCursors, type StagedLead, stageLeads, useCursor } from '../store/staging.ts';
import { holding, type StepContext } from './context.ts';
import type { LeadPage } from './leads-port.ts';
import { endless, stagedBytes, usualScanBounds } from './scan-bounds.ts';

/**
 * Pages through all leads and stages them. Each page is a checkpoint: it is stored together with the cursor of the
 * next one, so that a killed run goes on there.
 */
export async function pull(context: StepContext, run: Run): Promise<Run> {
  let current = run;
  while (current.phase === 'pull') {
    context.stop.throwIfAborted();
    current = await pullPage(context, current);
  }
  return current;
}

async function pullPage(context: StepContext, run: Run): Promise<Run> {
  const limit = run.sendLimit ? context.connection.leads.pageSize : null;
  let page: LeadPage;
  try {
    page = await context.leads.list({ cursor: run.cursor, limit }, context.cut);
  } catch (error) {
    const instead =
      error instanceof LeadsyncError && error.code === 'leads.rejected' ? afterRejection(run) : null;
    if (instead === null) throw error;
    context.log.warn({ run: run.id, ...instead }, 'page request was rejected, trying otherwise');
    return holding(context, async (db) => {
      if (instead.scanRestarted) await clearStaging(db, run.id);
      return updateRun(db, run.id, instead);
    });
  }
  return storePage(context, run, page);
}

/**
 * What to try when the service rejects a page request (DESIGN 3): a first page without `limit`; a later page, whose
 * cursor may have expired, once more from the beginning. Null: nothing is left to try.
 */
function afterRejection(run: Run): RunPatch | null {
  if (run.cursor === null) return run.sendLimit ? { sendLimit: false } : null;
  if (run.scanRestarted) return null;
  return { cursor: null, scanRestarted: true, scanTorn: true, pulled: 0, pulledBytes: 0 };
}

/** Pages with unusable items that a run lists; of more it is known well enough. */
const mostProblems = 20;

function storePage(context: StepContext, run: Run, page: LeadPage): Promise<Run> {
  const { scanBounds = usualScanBounds } = context;
  const staged = new Map(page.leads.map((lead) => [lead.id, stageable(lead, context)]));
  const repeatedInPage = page.leads.length - staged.size;
  return holding(context, async (db) => {
    if (page.nextCursor !== null && !(await useCursor(db, run.id, page.nextCursor))) {
      throw new LeadsyncError(
        'leads.cursor-repeated',
        'the service returned a cursor that this scan has used before',
        {
          help: 'The scan was given up to avoid an endless loop; nothing was changed. Report this to the service.',
        },
      );
    }
    const pulledBytes = run.pulledBytes + stagedBytes([...staged.values()]);
    if (pulledBytes > scanBounds.bytes)
      throw endless('leads', `it sent ${run.pulled + staged.size} leads of ${pulledBytes} bytes`);
    const repeated = repeatedInPage + (await stageLeads(db, run.id, [...staged.values()]));
    const isBarren = repeated === page.leads.length;
    // Of a page of leads at least one is new: what is above their number were barren ones.
    if (isBarren && (await countCursors(db, run.id)) > run.pulled + scanBounds.barrenPages)
      throw endless('leads', `more than ${scanBounds.barrenPages} pages had no new lead`);
    return updateRun(db, run.id, {
      cursor: page.nextCursor,
      phase: page.nextCursor === null ? 'read' : 'pull',
      pages: run.pages + 1,
      pulled: run.pulled + page.leads.length - repeated,
      pulledBytes,
      scanTorn: run.scanTorn || repeated > 0 || page.invalidItems > 0,
      tries: 0,
      ...(page.invalidItems > 0 && {
        problems: [...run.problems, invalidItems(page.invalidItems)].slice(0, mostProblems),
      }),
    });
  });
}

function stageable(lead: Lead, context: StepContext): StagedLead {
  const cells = leadCells(lead, context.connection.fields);
  return { leadId: lead.id, cells, hash: readableFingerprint(cells, context.connection.fields) };
}

function invalidItems(count: number) {
  return {
    code: 'leads.item-invalid',
    message: `${count} item(s) of a page have no usable id and were left out`,
  };
}
