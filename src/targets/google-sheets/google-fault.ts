import { LeadsyncError, type LeadsyncErrorOptions } from '../../lib/errors.ts';
import type { GoogleReply } from './google-reply.ts';

interface GoogleFaultOptions extends LeadsyncErrorOptions {
  readonly status?: number | null;
  readonly words?: string | null;
}

/** A failed request to Google. Never carries the client's own error, which holds the request with its token. */
export class GoogleFault extends LeadsyncError {
  /** HTTP status; null: no reply. */
  readonly status: number | null;
  /** Google's words, shortened; null: nothing presentable. For people only. */
  readonly words: string | null;

  constructor(code: string, message: string, options: GoogleFaultOptions = {}) {
    super(code, message, options);
    this.name = 'GoogleFault';
    this.status = options.status ?? null;
    this.words = options.words ?? null;
  }
}

/** A write without a reply may still be carried out: an immediate check could miss it, and the write be repeated. */
const lateWriteMs = 30_000;

export type GoogleRequest = 'token' | 'read' | 'write';

/**
 * Decides by status and structured details alone. A used-up quota of Sheets (429, `RESOURCE_EXHAUSTED`) is the business of `Quota`.
 * `address`: of the account, for the help; null: not known.
 */
export function googleFault(reply: GoogleReply, request: GoogleRequest, address: string | null): GoogleFault {
  const { status, words, retryAfterMs } = reply;
  const said = words === null ? '' : `: ${words}`;
  const fault = (code: string, what: string, options: LeadsyncErrorOptions = {}): GoogleFault =>
    new GoogleFault(code, `${what}${said}`, { status, words, ...options });
  if (reply.tooLarge) {
    const help = 'Move unneeded content out of the tab, or give leadsync more memory (docs/containers.md).';
    return fault('target.too-large', 'Google Sheets sent more than fits in memory', { help });
  }
  if (status === null || status < 400 || status === 408 || status === 429 || status >= 500) {
    const isOpen = request === 'write' && !isUnreachable(reply);
    const waitMs = retryAfterMs ?? (isOpen ? lateWriteMs : null);
    return fault('target.unavailable', unavailable(reply, request), {
      ...(waitMs !== null && { retryAfterMs: waitMs }),
      retry: waitMs !== null || status === 429 || isUnreachable(reply) ? 'later' : 'now',
    });
  }
  if (status === 401 || reply.oauth || request === 'token') {
    return fault('target.unauthenticated', 'Google refused the account', {
      help: 'Check that the key in the file that GOOGLE_APPLICATION_CREDENTIALS names still exists and is enabled in the Google Cloud console, and that the clock of this machine is right.',
    });
  }
  if (status === 403) {
    const help = forbiddenHelp(reply.reason, address);
    return fault('target.forbidden', 'Google Sheets denies access', { help });
  }
  if (status === 404 || status === 410) {
    const account = address ?? 'the service account';
    return fault('target.not-found', 'Google Sheets cannot find the spreadsheet', {
      help: `Check the id in the spreadsheet's address, and that it is shared with ${account}.`,
    });
  }
  return fault('target.refused', `Google Sheets refused the request (${status})`);
}

/** Nothing reached Google: name resolution or connection failed. */
function isUnreachable({ networkCode }: GoogleReply): boolean {
  return networkCode !== null && unreachable.has(networkCode);
}

const unreachable = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'ENETUNREACH', 'EHOSTUNREACH']);

function unavailable(reply: GoogleReply, request: GoogleRequest): string {
  const { status, networkCode } = reply;
  if (isUnreachable(reply)) return `Google cannot be reached (${networkCode}); nothing was done`;
  const answer =
    networkCode === 'TimeoutError'
      ? 'did not answer in time'
      : status === null
        ? `broke off (${networkCode ?? 'no reply'})`
        : `could not serve the request (${status})`;
  const effect =
    request === 'write' ? '; the write may have taken effect, leadsync checks before it writes again' : '';
  return `Google ${answer}${effect}`;
}

/** By `google.rpc.ErrorInfo.reason` (Google's list of error reasons). */
function forbiddenHelp(reason: string | null, address: string | null): string {
  switch (reason) {
    case 'SERVICE_DISABLED':
      return "Enable the Google Sheets API in the service account's project of the Google Cloud console.";
    case 'ACCESS_TOKEN_SCOPE_INSUFFICIENT':
      return 'Give the account the scope https://www.googleapis.com/auth/spreadsheets.';
    default:
      return `Share the spreadsheet with ${address ?? 'the service account'} as editor.`;
  }
}
