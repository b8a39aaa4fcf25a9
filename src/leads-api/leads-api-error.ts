import { LeadsyncError, type LeadsyncErrorOptions } from '../lib/errors.ts';
import type { HttpFault, ReplyHead } from '../http/exchange.ts';
import type { ErrorBody } from './read-reply.ts';

interface LeadsApiErrorOptions extends LeadsyncErrorOptions {
  /** HTTP status of the reply; null or absent: no reply. */
  readonly status?: number | null;
  /** The service's own code, such as `auth.forbidden` (API reference, section 7), if the body has one. */
  readonly apiCode?: string | null;
}

export class LeadsApiError extends LeadsyncError {
  readonly status: number | null;
  readonly apiCode: string | null;

  constructor(code: string, message: string, options: LeadsApiErrorOptions = {}) {
    super(code, message, options);
    this.name = 'LeadsApiError';
    this.status = options.status ?? null;
    this.apiCode = options.apiCode ?? null;
  }
}

export type Operation = 'list' | 'get' | 'create' | 'update' | 'delete';

/** Of a reply other than 2xx and 429. Only its status decides the code (API reference, section 7). `said` is printed: short, no secrets. */
export function replyFault(operation: Operation, head: ReplyHead, said: ErrorBody): LeadsApiError {
  const { status } = head;
  const details = [said.code, said.message].filter((part) => part !== null).join(': ');
  const named = `${status}${details === '' ? '' : `, ${details}`}`;
  const verb = operation === 'get' ? 'read' : operation;
  const request = `the request to ${verb} ${operation === 'list' ? 'leads' : 'a lead'}`;
  const fault = (code: string, message: string, options: LeadsyncErrorOptions = {}) =>
    new LeadsApiError(code, message, { status, apiCode: said.code, ...options });
  if (status === 401)
    return fault(
      'leads.unauthenticated',
      `The Leads service rejected the key (${named}): it is missing, mistyped, revoked or expired. This request was not carried out.`,
      { help: 'Create a key in the app under Settings, API keys, and set it as LEADS_API_KEY.' },
    );
  if (status === 403) {
    // The reference names only `leads:read` (sections 4, 5).
    const permission = `the permission ${operation === 'list' ? 'leads:read' : `to ${verb} leads`}`;
    return fault(
      'leads.forbidden',
      `The key lacks ${permission} (${named}). This request was not carried out.`,
      { help: `Use a key that has ${permission}.` },
    );
  }
  if (status >= 300 && status < 400)
    return fault(
      'leads.redirected',
      `The Leads service answered ${request} with a redirect (${status}), which was not followed: the key must not reach another address.`,
      { help: 'Set the base URL to the address of the service itself.' },
    );
  if (status >= 400 && status < 500 && status !== 408 && status !== 425) {
    const help = 'Check the base URL: leads are asked for at /v1/leads below it.';
    const isElsewhere = operation === 'list' && status === 404;
    return fault(
      'leads.rejected',
      `The Leads service rejected ${request} (${named}).`,
      isElsewhere ? { help } : {},
    );
  }
  return fault(
    'leads.unavailable',
    `The Leads service failed at ${request} (${named}). It may have acted on it.`,
    { retry: 'now', help: 'A worker tries again by itself.' },
  );
}

/** The fault of a request without a complete reply: `leads.unreachable`, `leads.unavailable` or `leads.too-large`. */
export function lostReply(fault: HttpFault, origin: string): LeadsApiError {
  const { kind, message: reason, status, cause } = fault;
  switch (kind) {
    case 'unreachable':
      return new LeadsApiError(
        'leads.unreachable',
        `No connection to the Leads service at ${origin} (${reason}). Nothing was sent.`,
        {
          retry: 'now',
          cause,
          help: 'Check the base URL, the network and the certificate. A worker tries again by itself.',
        },
      );
    case 'unfinished':
      return new LeadsApiError(
        'leads.unavailable',
        `The Leads service at ${origin} did not send a complete reply (${reason}). It may have acted on the request.`,
        { retry: 'now', cause, status, help: 'A worker tries again by itself.' },
      );
    case 'too-large':
      return new LeadsApiError(
        'leads.too-large',
        `The Leads service sent ${reason} for one reply; the rest was not read.`,
        { status, help: 'Check the base URL.' },
      );
    default:
      return kind satisfies never;
  }
}
