import { LeadsyncError } from '../../errors.ts';
import type { Lead } from '../../core/lead/lead.ts';
import type { LeadsPort } from '../../ports/leads-service.ts';
import type { Clock } from '../../ports/clock.ts';
import { leadsPauseMs, type CircuitBreakers } from './circuit-breakers.ts';

/** The lead, null when it is gone, or when (in ms) to try again and the fault; without a fault no request was sent. */
export type Answer =
  | { readonly lead: Lead | null }
  | { readonly againAfterMs: number; readonly fault: LeadsyncError | null };

interface AskContext {
  readonly connection: { readonly name: string };
  readonly leads: LeadsPort;
  readonly clock: Clock;
  readonly breakers: CircuitBreakers;
}

/** Minimum wait for a lead after a fault (ms): others come first after a pause. */
const leastWaitMs = 2 * leadsPauseMs;

/**
 * For a mail that has waited since `since` (epoch ms). After a fault only this lead waits, twice as long each time; the service is paused at
 * its request, or when several leads in a row fail.
 */
export async function askLead(
  { connection: { name }, leads, clock, breakers }: AskContext,
  id: string,
  since: number,
  signal: AbortSignal,
): Promise<Answer> {
  using _turn = await breakers.leadsTurn(name);
  const wait = breakers.leadsUntil(name) - clock.now();
  if (wait > 0) {
    return { againAfterMs: wait + (breakers.hasFailed(name, id) ? leadsPauseMs : 0), fault: null };
  }
  try {
    const lead = await leads.get(id, signal);
    breakers.leadsAnswered(name);
    return { lead };
  } catch (error) {
    if (signal.aborted || !(error instanceof LeadsyncError) || !error.code.startsWith('leads.')) throw error;
    const now = clock.now();
    const { retryAfterMs } = error;
    if (error.code !== 'leads.rejected') breakers.leadFailed(name, id, now, retryAfterMs);
    const leastMs = retryAfterMs === undefined ? leastWaitMs : 2 * retryAfterMs;
    return { againAfterMs: Math.max(leastMs, now - since), fault: error };
  }
}
