import type { ErrorBody } from './error-body.ts';
import type { ReplyHead } from '../http/exchange.ts';
import type { HttpFault } from '../http/http-fault.ts';
import { LeadsApiError } from './leads-api-error.ts';

/** The five endpoints (API reference, section 4). */
export type Operation = 'list' | 'get' | 'create' | 'update' | 'delete';

/** The permission each needs, for messages. The reference names only `leads:read` (sections 4, 5). */
const permissions: Readonly<Record<Operation, string>> = {
  list: 'the permission leads:read',
  get: 'the permission to read leads',
  create: 'the permission to create leads',
  update: 'the permission to update leads',
  delete: 'the permission to delete leads',
};

const attempts: Readonly<Record<Operation, string>> = {
  list: 'to list leads',
  get: 'to read a lead',
  create: 'to create a lead',
  update: 'to update a lead',
  delete: 'to delete a lead',
};

/**
 * The fault of a reply other than 2xx and 429. Only its status decides the code (API reference, section 7; other
 * statuses as HTTP defines them). `said` is printed: short, no secrets.
 */
export function replyFault(operation: Operation, head: ReplyHead, said: ErrorBody): LeadsApiError {
  const { status } = head;
  const reply = { status, apiCode: said.code };
  const details = [said.code, said.message].filter((part) => part !== null).join(': ');
  const named = `${status}${details === '' ? '' : `, ${details}`}`;
  if (status === 401) {
    return new LeadsApiError(
      'leads.unauthenticated',
      `The Leads service rejected the key (${named}): it is missing, mistyped, revoked or expired. This request was not carried out.`,
      { ...reply, help: 'Create a key in the app under Settings, API keys, and set it as LEADS_API_KEY.' },
    );
  }
  if (status === 403) {
    return new LeadsApiError(
      'leads.forbidden',
      `The key lacks ${permissions[operation]} (${named}). This request was not carried out.`,
      { ...reply, help: `Use a key that has ${permissions[operation]}.` },
    );
  }
  if (status >= 300 && status < 400) {
    return new LeadsApiError(
      'leads.redirected',
      `The Leads service answered the request ${attempts[operation]} with a redirect (${status}), which was not followed: the key must not reach another address.`,
      { ...reply, help: 'Set the base URL to the address of the service itself.' },
    );
  }
  if (status >= 400 && status < 500 && status !== 408 && status !== 425) {
    return new LeadsApiError(
      'leads.rejected',
      `The Leads service rejected the request ${attempts[operation]} (${named}).`,
      reply,
    );
  }
  return new LeadsApiError(
    'leads.unavailable',
    `The Leads service failed at the request ${attempts[operation]} (${named}). It may have acted on it.`,
    { ...reply, retry: 'now', help: 'leadsync tries again.' },
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
          help: 'Check the base URL, the network and the certificate; leadsync tries again.',
        },
      );
    case 'unfinished':
      return new LeadsApiError(
        'leads.unavailable',
        `The Leads service at ${origin} did not send a complete reply (${reason}). It may have acted on the request.`,
        { retry: 'now', cause, status, help: 'leadsync tries again.' },
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
