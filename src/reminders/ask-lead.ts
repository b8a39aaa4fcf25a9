import { LeadsyncError } from '../errors.ts';
import type { Lead } from '../lead/lead.ts';
import type { LeadsPort } from '../sync/leads-port.ts';
import type { Clock } from '../sync/clock.ts';
import { leadsPauseMs, type Pauses } from './pauses.ts';

/** What the service says of a lead: as it is, null when it is gone, or when (in ms) it may be asked again, and why. */
export type Answer =
  | { readonly lead: Lead | null }
  | { readonly againAfterMs: number; readonly fault: LeadsyncError | null };

interface AskContext {
  readonly connection: { readonly name: string };
  readonly leads: LeadsPort;
  readonly clock: Clock;
  readonly pauses: Pauses;
}

/**
 * Reads a lead. After a fault that is not this lead's own, a service is not asked again for a minute by any mail, or for
 * as long as it wants.
 */
export async function askLead(
  { connection: { name }, leads, clock, pauses }: AskContext,
  id: string,
  signal: AbortSignal,
): Promise<Answer> {
  const wait = pauses.leadsUntil(name) - clock.now();
  if (wait > 0) return { againAfterMs: wait, fault: null };
  try {
    const lead = await leads.get(id, signal);
    pauses.leadsAnswered(name);
    return { lead };
  } catch (error) {
    if (signal.aborted || !(error instanceof LeadsyncError) || !error.code.startsWith('leads.')) throw error;
    const againAfterMs = error.retryAfterMs ?? leadsPauseMs;
    if (error.code !== 'leads.rejected') pauses.leadsFailed(name, clock.now() + againAfterMs);
    return { againAfterMs, fault: error.retryAfterMs === undefined ? error : null };
  }
}
