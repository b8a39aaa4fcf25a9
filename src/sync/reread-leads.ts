import { type Lead, leadCells } from '../core/lead/lead.ts';
import { sameCell } from '../core/lead/value.ts';
import { LeadsyncError } from '../errors.ts';
import { scannedLeadCells } from '../store/differences.ts';
import { shownBefore, whatIsKnown } from '../store/earlier-values.ts';
import type { Run } from '../store/runs.ts';
import { insertStaged } from '../store/staging.ts';
import { inLeasedTransaction, type StepContext } from './context.ts';
import { inLanes } from './concurrency.ts';

/** Leads read by their ids before it is clear whether the list is behind. */
const atATime = 20;

/**
 * Reads leads by their ids that the scan shows as they were before: a list may be behind what was written into the leads, and
 * would take it back in the rows. Corrects the scan. When none of some leads shows anything newer, the list is right: they were
 * edited, or the service is an older copy.
 */
export async function rereadLeads(context: StepContext, run: Run): Promise<void> {
  const { pool, connection } = context;
  if (!(await whatIsKnown(pool, run.connection)).hasMoved) return;
  const fields = connection.fields.map(({ field }) => field);
  const leftAt = new Map<string, number>();
  for await (const before of shownBefore(pool, run, 'lead', fields))
    leftAt.set(before.leadId, Math.max(before.leftAt, leftAt.get(before.leadId) ?? 0));
  // A list is behind what was written last.
  const latest = [...leftAt].toSorted(([, a], [, b]) => b - a).map(([leadId]) => leadId);
  for (const left = latest; left.length > 0; )
    if ((await correct(context, run, left.splice(0, atATime))) === 0) return;
}

/** How many of these leads show something else than in the scan. */
async function correct(context: StepContext, run: Run, leadIds: readonly string[]): Promise<number> {
  const { fields } = context.connection;
  const listed = await scannedLeadCells(context.pool, run.id, leadIds);
  const newer: { leadId: string; cells: ReturnType<typeof leadCells> }[] = [];
  await inLanes(
    leadIds,
    () => context.leads.lanes,
    async (leadId) => {
      context.stop.throwIfAborted();
      const lead = await read(context, leadId);
      const cells = lead && leadCells(lead, fields);
      const before = listed.get(leadId);
      if (cells && fields.some(({ field }) => !sameCell(cells[field] ?? null, before?.[field] ?? null)))
        newer.push({ leadId, cells });
    },
  );
  if (newer.length > 0) await inLeasedTransaction(context, (db) => insertStaged(db, run.id, newer, fields));
  return newer.length;
}

/** Null: it is gone, or cannot be read; then the scan counts. */
async function read({ leads, cut }: StepContext, leadId: string): Promise<Lead | null> {
  try {
    return await leads.get(leadId, cut);
  } catch (error) {
    const code = error instanceof LeadsyncError ? error.code : '';
    if (!['leads.rejected', 'leads.forbidden', 'leads.too-large'].includes(code)) throw error;
    return null;
  }
}
