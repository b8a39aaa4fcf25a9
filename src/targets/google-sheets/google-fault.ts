import { z } from 'zod';
import type { Redactor } from '../../lib/redact.ts';
import { retryAfterMs } from '../../lib/retry-after.ts';
import { visibleText } from '../../lib/foreign-text.ts';
import type { QuotaKind } from './quota.ts';
import type { LeadsyncErrorOptions } from '../../lib/errors.ts';
import { ServiceFault } from '../../http/faults.ts';

/** A failed request, without any part of the request itself. */
export interface GoogleReply {
  readonly status: number | null;
  /** The system's or client's code without a reply: `ECONNRESET`, `TimeoutError`. */
  readonly networkCode: string | null;
  readonly words: string | null;
  /** `google.rpc.ErrorInfo.reason`, such as `RATE_LIMIT_EXCEEDED`, or the OAuth code, such as `invalid_grant`. */
  readonly reason: string | null;
  /** The body is an OAuth server's (RFC 6749, section 5.2): the account itself was refused. */
  readonly oauth: boolean;
  readonly exhausted: boolean;
  /** The exhausted quota; null: not named. */
  readonly quota: QuotaKind | null;
  readonly retryAfterMs: number | null;
  readonly tooLarge: boolean;
}

const longestWords = 300;

const headersSchema = z.custom<{ get(name: string): string | null }>(
  (value) => typeof value === 'object' && value !== null && 'get' in value && typeof value.get === 'function',
);

/** gaxios' GaxiosError, matched by shape: the client brings its own copy of the class. */
const clientErrorSchema = z.object({
  config: z.object({}),
  code: z.union([z.string(), z.number()]).nullish(),
  cause: z.unknown().optional(),
  response: z.object({ status: z.number(), headers: headersSchema }).nullish(),
});

/** Separate: reading the body of a refused reply is a deprecated call of node-fetch. */
const dataSchema = z.object({ response: z.object({ data: z.unknown().optional() }) });

const text = z.string().nullable().catch(null);
const detailSchema = z.object({
  reason: text,
  metadata: z.object({ quota_limit: text }).nullable().catch(null),
});

/** Google's error body (AIP-193). */
const apiBodySchema = z.object({
  error: z.object({
    status: text,
    message: text,
    details: z.array(detailSchema.nullable().catch(null)).catch([]),
  }),
});

const oauthBodySchema = z.object({ error: z.string(), error_description: text });

/** Null: no error of Google's client, so a fault before any request. `redactor` cleans shown text. `receivedAt`: epoch ms. */
export function readGoogleReply(error: unknown, redactor: Redactor, receivedAt: number): GoogleReply | null {
  const parsed = clientErrorSchema.safeParse(error);
  if (!parsed.success) return null;
  const { response, code, cause } = parsed.data;
  const isFault = response !== null && response !== undefined && response.status >= 300;
  const body = readBody(isFault ? dataSchema.safeParse(error).data?.response.data : undefined);
  return {
    ...body,
    words: body.words === null ? null : visibleText(redactor.text(body.words), longestWords),
    status: response?.status ?? null,
    networkCode: typeof code === 'string' ? code : null,
    retryAfterMs: retryAfterMs(
      response?.headers.get('retry-after') ?? undefined,
      response?.headers.get('date') ?? undefined,
      receivedAt,
    ),
    // The client reports an oversized body as an error of a successful reply, or as node-fetch's `max-size`.
    tooLarge:
      (response?.status !== undefined && !isFault) ||
      z.object({ type: z.literal('max-size') }).safeParse(cause).success,
  };
}

function readBody(data: unknown): Pick<GoogleReply, 'words' | 'reason' | 'oauth' | 'exhausted' | 'quota'> {
  const none = { words: null, reason: null, oauth: false, exhausted: false, quota: null };
  const oauth = oauthBodySchema.safeParse(data);
  if (oauth.success) {
    const { error: reason, error_description: description } = oauth.data;
    const words = description === null ? reason : `${reason}: ${description}`;
    return { ...none, words, reason, oauth: true };
  }
  const api = apiBodySchema.safeParse(data);
  if (!api.success) return none;
  const { status, message: words, details } = api.data.error;
  const reason = details.find((detail) => detail?.reason)?.reason ?? null;
  const limit = details.find((detail) => detail?.metadata?.quota_limit)?.metadata?.quota_limit ?? '';
  const exhausted = status === 'RESOURCE_EXHAUSTED' || reason === 'RATE_LIMIT_EXCEEDED';
  return { words, reason, oauth: false, exhausted, quota: quotaKind(limit) };
}

/** Limits are named `ReadRequestsPerMinutePerUser`, `WriteRequestsPerMinutePerProject` and so on. */
function quotaKind(limit: string): QuotaKind | null {
  if (/^read/i.test(limit)) return 'read';
  return /^write/i.test(limit) ? 'write' : null;
}

/** A failed request to Google. */
export class GoogleFault extends ServiceFault {}

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
      help: 'Check that the key in the file that GOOGLE_APPLICATION_CREDENTIALS names still exists and is enabled in the Google Cloud console, and that the clock of this machine is right. A person signs in again: leadsync check --google-sign-in client.json',
    });
  }
  if (status === 403) {
    const help = forbiddenHelp(reply.reason, address);
    return fault('target.forbidden', 'Google Sheets denies access', { help });
  }
  if (status === 404 || status === 410) {
    const account = address ?? 'the account that GOOGLE_APPLICATION_CREDENTIALS names';
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
      return "Enable the Google Sheets API in the account's project of the Google Cloud console.";
    case 'ACCESS_TOKEN_SCOPE_INSUFFICIENT':
      return 'Give the account the scope https://www.googleapis.com/auth/spreadsheets.';
    default:
      return `Share the spreadsheet with ${address ?? 'the account that GOOGLE_APPLICATION_CREDENTIALS names'} as editor.`;
  }
}
