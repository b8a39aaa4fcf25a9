import { setTimeout as sleep } from 'node:timers/promises';
import type { Secret } from '../config/secret.ts';
import { LeadsyncError } from '../errors.ts';
import { createLeadsClient } from '../leads-api/leads-client.ts';
import type { LeadPage, Throttle } from '../ports/leads-service.ts';

/** Ms that a service may ask to wait before the wizard gives up. */
const longestWaitMs = 20_000;
const mostWaits = 3;
/** Leads of a page: enough to see which fields there are. */
const limit = 100;

/** One request at a time, in a process of its own: no rate limit to share. */
const alone: Throttle = {
  pauses: 0,
  look: async () => ({ notBefore: 0, pace: null, aheadMs: 0 }),
  pauseUntil: async () => {},
  movePace: async () => true,
};

/** What the service showed. */
export interface TriedService {
  /** Leads on the first page. */
  readonly leads: number;
  readonly isAll: boolean;
  /** Names of the fields that its leads have, without the id. */
  readonly fields: readonly string[];
}

/** Lists the first page of leads with this key. Throws LeadsApiError as `LeadsPort` says. */
export async function tryService(
  baseUrl: string,
  apiKey: Secret,
  signal: AbortSignal,
): Promise<TriedService> {
  await using client = createLeadsClient({ baseUrl, apiKey, query: {}, throttle: alone });
  const { leads, nextCursor } = await firstPage(
    (limit) => client.list({ cursor: null, limit }, signal),
    limit,
  );
  const fields = new Set(leads.flatMap((lead) => Object.keys(lead.fields)));
  return {
    leads: leads.length,
    isAll: nextCursor === null,
    fields: [...fields].filter((name) => name !== 'id'),
  };
}

async function firstPage(
  list: (limit: number | null) => Promise<LeadPage>,
  limit: number | null,
  waits = mostWaits,
): Promise<LeadPage> {
  try {
    return await list(limit);
  } catch (error) {
    if (!(error instanceof LeadsyncError)) throw error;
    // As a sync does: a service may not know `limit`.
    if (error.code === 'leads.rejected' && limit !== null) return firstPage(list, null, waits);
    const { code, retryAfterMs = longestWaitMs } = error;
    if (code !== 'leads.rate-limited' || retryAfterMs >= longestWaitMs || waits === 0) throw error;
    await sleep(retryAfterMs);
    return firstPage(list, limit, waits - 1);
  }
}

/** Connects to a mail server and logs in; sends nothing. Throws as `Mailer.verify` does. */
export async function tryMailServer(smtpUrl: Secret): Promise<void> {
  const { createMailer } = await import('../reminders/send/mail.ts');
  await using mailer = createMailer(smtpUrl, '');
  await mailer.verify();
}
