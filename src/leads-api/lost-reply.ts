import type { HttpFault } from '../http/http-fault.ts';
import { LeadsApiError } from './leads-api-error.ts';

/** What a request without a complete reply means: `leads.unreachable`, `leads.unavailable` or `leads.too-large`. */
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
          help: 'Check the base URL, the network and the certificate; it is tried again.',
        },
      );
    case 'unfinished':
      return new LeadsApiError(
        'leads.unavailable',
        `The Leads service at ${origin} did not send a complete reply (${reason}). It may have acted on the request.`,
        { retry: 'now', cause, status, help: 'It is tried again.' },
      );
    case 'too-large':
      return new LeadsApiError(
        'leads.too-large',
        `The Leads service sent ${reason} for one reply; the rest was not read.`,
        { status, help: 'Is the base URL right?' },
      );
    default:
      return kind satisfies never;
  }
}
