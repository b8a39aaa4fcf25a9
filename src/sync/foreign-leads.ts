import { type ForeignLeads, looksForeign } from '../core/merge/guard.ts';
import type { LiveScan } from '../core/merge/live-scan.ts';
import { someKnown } from '../store/pairs.ts';
import type { Run } from '../store/runs.ts';
import type { LeadsPort } from '../ports/leads-service.ts';
import { readById } from './ask-leads.ts';
import type { StepContext } from './context.ts';

/** Known leads that are asked for by id before a service is taken for another one. */
export const askedKnown = 5;

/**
 * Whether the scan shows the leads of another organization: nearly none that is known, and none of some of them is there by
 * its id. Null: no; so a list with another filter, and one whose leads moved on, are honest.
 */
export async function findForeign(
  { pool, leads, cut }: StepContext,
  run: Run,
  scan: LiveScan,
): Promise<ForeignLeads | null> {
  const { known, missed } = scan.unlisted();
  const counts = { known, listed: known - missed, others: run.pulled - (known - missed) };
  if (!looksForeign(counts)) return null;
  const asked = await someKnown(pool, run.connection, askedKnown, [...scan.unlistedLeads()]);
  return (await hasAny(leads, asked, cut)) ? null : { ...counts, asked: asked.length };
}

/** Whether the service has any of these leads. Of one that may not be read it counts as not having it. */
export async function hasAny(
  leads: LeadsPort,
  leadIds: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  for (const leadId of leadIds) if (await readById(leads, leadId, signal)) return true;
  return false;
}
