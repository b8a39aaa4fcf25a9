import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  ApiFault,
  type LimitPolicy,
  missingScopes,
  notFound,
  rateLimited,
  unauthenticated,
} from './api-fault.ts';
import { type Reply, sendHalf, sendReply } from './send-reply.ts';

type FaultStatus = 401 | 403 | 404 | 423 | 477 | 500 | 502 | 503 | 504 | 524;

/** A fault of a request or its reply. */
export type HubSpotFault =
  /** Nothing is done. Without `policy` the reply does not name the limit. */
  | { readonly status: 429; readonly policy?: LimitPolicy; readonly retryAfter?: string }
  /** Nothing is done, or (`after`) everything; the reply is an error in HubSpot's shape. */
  | { readonly status: FaultStatus; readonly retryAfter?: string; readonly after?: boolean }
  /** Nothing is done: the connection is reset, or hangs, or a gateway replies with a page (502). */
  | { readonly kind: 'reset' | 'hang' | 'html' }
  /** The request is carried out; the reply is lost, a page (200) instead of JSON, or truncated. */
  | { readonly kind: 'reset-after' | 'not-json' | 'short' };

const messages: Readonly<Record<number, string>> = {
  423: 'The record is locked.',
  477: 'A migration of this account is in progress.',
  500: 'internal error',
  502: 'bad gateway',
  503: 'service unavailable',
  504: 'gateway timeout',
  524: 'a timeout occurred',
};

const page = '<!DOCTYPE html><title>Bad gateway</title><center><h1>Bad gateway</h1></center>\n';

/** Whether the request is carried out nevertheless. */
export function isAfter(fault: HubSpotFault): boolean {
  if ('kind' in fault)
    return fault.kind === 'reset-after' || fault.kind === 'not-json' || fault.kind === 'short';
  return fault.status !== 429 && fault.after === true;
}

/**
 * Replies with a fault; `reply`: the proper one of a request that was carried out. Returns the status; 0: no reply.
 */
export function playFault(
  fault: HubSpotFault,
  reply: Reply,
  request: IncomingMessage,
  response: ServerResponse,
): number {
  if (!('kind' in fault)) {
    const { status, retryAfter } = fault;
    const { body } = status === 429 ? rateLimited(fault.policy) : faultOf(status);
    const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
    return sendReply(response, { status, headers, body });
  }
  switch (fault.kind) {
    case 'hang':
      return 0;
    case 'reset':
    case 'reset-after':
      request.socket.resetAndDestroy();
      return 0;
    case 'html':
    case 'not-json': {
      const status = fault.kind === 'html' ? 502 : 200;
      response.writeHead(status, { 'content-type': 'text/html; charset=UTF-8' }).end(page);
      return status;
    }
    case 'short':
      return sendHalf(response, reply);
  }
}

function faultOf(status: FaultStatus): ApiFault {
  if (status === 401) return unauthenticated();
  if (status === 403) return missingScopes(['crm.objects.companies.read']);
  if (status === 404) return notFound('resource not found');
  return new ApiFault(status, messages[status] ?? 'error', { category: 'INTERNAL_ERROR' });
}
