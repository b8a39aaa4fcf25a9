import { z } from 'zod';
import { LeadsyncError } from '../../lib/errors.ts';
import { faultRow, type FaultTable } from '../../http/fault-table.ts';
import type { HttpFault } from '../../http/exchange.ts';
import { visibleText } from '../../lib/visible-text.ts';
import { docsPath } from '../../lib/version.ts';

const errorBody = z.object({
  error: z.looseObject({ code: z.string().catch(''), message: z.string().catch('') }),
});

/** An error reply of Graph, as documented: a code, more special ones inside it, and words for developers. */
export interface SaidByGraph {
  /** From the outermost to the innermost. */
  readonly codes: readonly string[];
  readonly message: string;
}

/** A reply that is no answer. `waitMs`: what it asks to wait; null: nothing. */
export interface GraphRefusal extends SaidByGraph {
  readonly status: number;
  readonly waitMs: number | null;
  readonly isWrite: boolean;
}

/** A write without a reply may still be carried out; the next run has to see it. */
const lateWriteMs = 10_000;
const mayBeWritten = 'The write may have taken effect; leadsync reads the file before it writes again.';
/** Graph does not say when the file will be closed. */
const lockedMs = 5 * 60_000;
/** For a limit without Retry-After. */
const limitedMs = 60_000;

export function readGraphError(json: unknown): SaidByGraph {
  const { data } = errorBody.safeParse(json);
  const codes: string[] = [];
  let at: Record<string, unknown> | undefined = data?.error;
  for (let depth = 0; at !== undefined && depth < 5; depth++) {
    if (typeof at['code'] === 'string' && /^[\w.-]{1,80}$/.test(at['code'])) codes.push(at['code']);
    at = asObject(at['innererror']) ?? asObject(at['innerError']);
  }
  return { codes, message: data?.error.message ?? '' };
}

/** Whether somebody saved the file since: SharePoint answers 409 in some cases, against its documentation. */
export function isMoved({ status, codes }: GraphRefusal): boolean {
  return status === 412 || (status === 409 && codes.includes('resourceModified'));
}

/** How a site is granted to the app, once it has the permission Sites.Selected. */
export const grantHelp = (): string =>
  `Grant the site to the app: in Graph Explorer POST https://graph.microsoft.com/v1.0/sites/SITE_ID/permissions {"roles":["write"],"grantedToIdentities":[{"application":{"id":"MSGRAPH_CLIENT_ID","displayName":"leadsync"}}]} (${docsPath('microsoft-365.md')}).`;

/** `quotaLimitReached` is Graph's code for 507. */
const faults: FaultTable<GraphRefusal & { readonly name: string }> = {
  '401': [
    'target.unauthenticated',
    'Microsoft Graph rejects the token of the app',
    'Check in Entra that the app has the application permission Sites.Selected with admin consent.',
  ],
  '403': ({ name, isWrite }) => [
    'target.forbidden',
    `Microsoft 365 does not let the app ${isWrite ? 'write' : 'read'} ${name.replace(/^Microsoft 365: /, '')}`,
    grantHelp(),
  ],
  '404': ({ name }) => [
    'target.not-found',
    `Microsoft Graph does not find ${name}`,
    'Check drive, path or link.',
  ],
  '429 503 509': ({ waitMs }) => [
    'target.rate-limited',
    'Microsoft accepts no more requests from this app for now',
    'leadsync waits as long as Microsoft asked, then tries again.',
    waitMs ?? limitedMs,
  ],
  '507': ({ name, waitMs }) => [
    'target.disk-full',
    `There is no room for ${name}: the drive or the site is full`,
    'Make room there; the next run writes what is left.',
    waitMs ?? 'later',
  ],
  '408 5xx': ({ waitMs }) => [
    'target.unavailable',
    'Microsoft Graph failed',
    'A worker tries again by itself.',
    waitMs ?? 'later',
  ],
  other: ({ name }) => [
    'target.refused',
    `Microsoft Graph refuses a request for ${name}`,
    `Check drive, path or link (${docsPath('microsoft-365.md')}).`,
  ],
};

export function graphFault(refusal: GraphRefusal, name: string): LeadsyncError {
  const { status, codes, waitMs, message, isWrite } = refusal;
  if (status === 423 || codes.includes('resourceLocked')) return lockedFault(name, waitMs);
  const isUnsure = isWrite && (status === 408 || (status >= 500 && ![503, 507, 509].includes(status)));
  const refusedWrite = isUnsure ? mayBeWritten : 'Nothing was written.';
  const untouched = isWrite ? refusedWrite : 'Nothing was read or written.';
  const words = message === '' ? '' : ` Microsoft says: ${visibleText(message, 200)}`;
  const meant = codes.includes('quotaLimitReached') ? 507 : status;
  const [code, says, options] = faultRow(faults, { ...refusal, name, status: meant });
  return new LeadsyncError(code, `${says} (${[status, ...codes].join(' ')}). ${untouched}${words}`, options);
}

/** Somebody has it open: Microsoft does not tell who. */
function lockedFault(name: string, waitMs: number | null): LeadsyncError {
  const message = `${name} is locked: somebody has it open in Excel or in the browser, and Microsoft then lets nobody replace it (423). Nothing was written.`;
  return new LeadsyncError('target.busy', message, {
    retry: 'later',
    retryAfterMs: waitMs ?? lockedMs,
    help: 'Close it there. The worker tries again.',
  });
}

/** `by`: empty when Microsoft does not tell. */
export function checkedOutFault(name: string, by: string): LeadsyncError {
  const who = by === '' ? 'somebody' : visibleText(by, 80);
  const message = `${name} is checked out by ${who}. Nothing was written.`;
  return new LeadsyncError('target.busy', message, {
    retry: 'later',
    retryAfterMs: lockedMs,
    help: 'Check it in, or discard the check-out, in SharePoint. The worker tries again.',
  });
}

/** A request without a complete reply; after a `write` it may have been carried out. */
export function lostReply(
  { kind, message, cause }: HttpFault,
  name: string,
  isWrite: boolean,
): LeadsyncError {
  const reason = visibleText(message, 100);
  if (kind === 'unreachable')
    return new LeadsyncError(
      'target.unavailable',
      `Microsoft cannot be reached for ${name} (${reason}). Nothing was sent.`,
      {
        retry: 'now',
        cause,
        help: 'Check the network and MSGRAPH_URL.',
      },
    );
  const effect = isWrite ? ` ${mayBeWritten}` : '';
  const what = kind === 'too-large' ? `sent ${reason}, too much,` : `gave no complete answer (${reason})`;
  return new LeadsyncError('target.unavailable', `Microsoft ${what} for ${name}.${effect}`, {
    cause,
    ...(isWrite ? { retry: 'later', retryAfterMs: lateWriteMs } : { retry: 'now' }),
  });
}

function asObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
}
