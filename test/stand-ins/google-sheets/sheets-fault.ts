import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiFault, errorInfo } from './api-fault.ts';
import { quotaExceeded } from './quotas.ts';
import { unauthenticated } from './token.ts';

/** A fault in place of a proper reply. */
export type SheetsFault =
  /** Google's 429; without `quota` it does not name the exhausted quota. */
  | {
      readonly status: 429;
      readonly quota?: 'Read' | 'Write';
      readonly scope?: 'User' | 'Project';
      readonly retryAfter?: string;
    }
  /** Nothing is done; the reply has this status and Google's words. */
  | { readonly status: 500 | 503 | 403 | 401 | 404 }
  /** Nothing is done: the connection is reset, or hangs, or the reply is a page instead of JSON. */
  | { readonly kind: 'reset' | 'hang' | 'html' }
  /** The request is carried out, and the connection reset before the reply. */
  | { readonly kind: 'reset-after' };

const messages: Readonly<Record<number, string>> = {
  403: 'The caller does not have permission',
  404: 'Requested entity was not found.',
  500: 'Internal error encountered.',
  503: 'The service is currently unavailable.',
};

/** A reply with this status in Google's words. */
export function faultOf(status: 400 | 401 | 403 | 404 | 500 | 503): ApiFault {
  return status === 401 ? unauthenticated() : new ApiFault(status, messages[status] ?? 'Error');
}

/** Plays a fault. Returns the status; 0: no reply. `reset-after` is played after the request. */
export function playFault(fault: SheetsFault, request: IncomingMessage, response: ServerResponse): number {
  if ('kind' in fault) {
    if (fault.kind === 'hang') return 0;
    if (fault.kind !== 'html') {
      request.socket.resetAndDestroy();
      return 0;
    }
    const page =
      '<!DOCTYPE html><html lang=en><title>Error 408 (Request Timeout)!!1</title><p><b>408.</b> ' +
      '<ins>That’s an error.</ins><p>Your client has taken too long to issue its request.</html>\n';
    response.writeHead(408, { 'content-type': 'text/html; charset=UTF-8' }).end(page);
    return 408;
  }
  if (fault.status !== 429) {
    sendJson(response, fault.status, faultOf(fault.status).body);
    return fault.status;
  }
  const { quota, scope = 'User', retryAfter } = fault;
  const limit = scope === 'User' ? 60 : 300;
  const exceeded =
    quota === undefined
      ? new ApiFault(429, 'Resource has been exhausted (e.g. check quota).', [
          errorInfo('RATE_LIMIT_EXCEEDED', { service: 'sheets.googleapis.com' }),
        ])
      : quotaExceeded(quota, scope, limit);
  if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
  sendJson(response, 429, exceeded.body);
  return 429;
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(JSON.stringify(body));
}
