import type { Lead } from '../core/lead/lead.ts';
import type { LeadPage, LeadsPort, ListRequest } from '../ports/leads-service.ts';
import { LeadsApiError } from './leads-api-error.ts';
import { type Answer, type Call, LeadsHttp, type LeadsHttpOptions } from './leads-http.ts';
import { findCreatedLead, findLead, findUpdatedLead, idFromLocation, readPage } from './read-reply.ts';
import pRetry from 'p-retry';
import { LeadsyncError } from '../lib/errors.ts';

export interface LeadsClientOptions extends LeadsHttpOptions {
  /** Passed on to `GET /v1/leads`; `cursor` and `limit` are ignored. */
  readonly query: Readonly<Record<string, string>>;
}

/**
 * A client of the Leads service (API reference, sections 4 to 8). Callers that share a throttle are served in order,
 * concurrently as `Lanes` allows; none during a pause after a 429. Throws LeadsApiError as `LeadsPort` says, and on
 * creation `leads.insecure-url`, `leads.bad-url`, or `leads.bad-key` for a key that no header can carry. Disposing it
 * ends the requests under way; later calls throw `leads.closed`.
 */
export function createLeadsClient(options: LeadsClientOptions): LeadsPort & AsyncDisposable {
  return new LeadsClient(options);
}

class LeadsClient extends LeadsHttp implements LeadsPort {
  readonly #query: Readonly<Record<string, string>>;

  constructor({ query, ...options }: LeadsClientOptions) {
    super(options);
    this.#query = query;
  }

  async list({ cursor, limit }: ListRequest, signal: AbortSignal): Promise<LeadPage> {
    const query = new URLSearchParams(this.#query);
    query.delete('cursor');
    query.delete('limit');
    if (limit !== null) query.set('limit', String(limit));
    if (cursor !== null) query.set('cursor', cursor);
    // Every server reads %20 as a space; "+" only those that parse the query as a form.
    const search = query.size === 0 ? '' : `?${query.toString().replaceAll('+', '%20')}`;
    const path = `/v1/leads${search}`;
    const call = { operation: 'list', method: 'GET', path, mayYield: true } as const;
    const answer = await this.ask(call, signal);
    return readPage(answer.json) ?? notJson(answer, 'a page of leads');
  }

  async get(id: string, signal: AbortSignal, after?: 'write'): Promise<Lead | null> {
    const mayYield = after !== 'write';
    const call = { operation: 'get', method: 'GET', path: leadPath(id), mayBeGone: true, mayYield } as const;
    const answer = await this.ask(call, signal);
    if (answer.gone) return null;
    return findLead(answer.json, id) ?? notJson(answer, 'the requested lead');
  }

  async create(
    fields: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    onLeaving?: () => Promise<void>,
  ): Promise<Lead | { readonly id: string } | null> {
    const call = { operation: 'create', method: 'POST', path: '/v1/leads', json: fields, onLeaving } as const;
    const { json, head } = await this.#write(call, signal);
    const shown = findCreatedLead(json, fields);
    if (shown !== null) return shown;
    const { location } = head.headers;
    const id = idFromLocation(typeof location === 'string' ? location : undefined);
    return id === null ? null : { id };
  }

  async update(
    id: string,
    fields: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<Lead | null> {
    const call = { operation: 'update', method: 'PATCH', path: leadPath(id), json: fields } as const;
    const { json } = await this.#write(call, signal);
    return findUpdatedLead(json, id, fields);
  }

  async delete(id: string, signal: AbortSignal): Promise<boolean> {
    const call = { operation: 'delete', method: 'DELETE', path: leadPath(id), mayBeGone: true } as const;
    const { gone } = await this.#write(call, signal);
    return !gone;
  }

  /** A body of another kind than JSON, such as "OK", may be the service's own; a page confirms nothing, whatever its status. */
  async #write(call: Call, signal: AbortSignal): Promise<Answer> {
    const answer = await this.ask(call, signal);
    return answer.isMarkup && !answer.gone ? notJson(answer, 'the outcome of a write') : answer;
  }
}

/** Ids come from cells that people edit: one that would name another resource (`/v1/leads/..`) throws `leads.rejected` before any request. */
function leadPath(id: string): string {
  if (id.trim() === '' || id === '.' || id === '..' || !id.isWellFormed()) {
    throw new LeadsApiError(
      'leads.rejected',
      `${JSON.stringify(id)} is not a valid lead id. No request was sent.`,
    );
  }
  return `/v1/leads/${encodeURIComponent(id)}`;
}

function notJson({ head, excerpt }: Answer, wanted: string): never {
  const shown = excerpt();
  throw new LeadsApiError(
    'leads.not-json',
    `The Leads service answered ${head.status}, but not with ${wanted} as JSON: ${shown === '' ? '(nothing)' : shown}`,
    {
      status: head.status,
      retry: 'now',
      help: 'Check the base URL. A proxy or a login page may have answered instead.',
    },
  );
}

/**
 * Up to twice in place when the fault has `retry: 'now'`; a longer outage is left to the job. Writes and requested waits are not retried.
 * `firstMs`: first delay; doubled for the second, plus jitter.
 */
export function retryReads(leads: LeadsPort, firstMs = 250): LeadsPort {
  const patiently = <T>(signal: AbortSignal, read: () => Promise<T>): Promise<T> =>
    pRetry(read, {
      retries: 2,
      minTimeout: firstMs,
      randomize: true,
      signal,
      shouldRetry: ({ error }) => error instanceof LeadsyncError && error.retry === 'now',
    });
  return withCalls(leads, {
    list: (request, signal) => patiently(signal, () => leads.list(request, signal)),
    get: (id, signal, after) => patiently(signal, () => leads.get(id, signal, after)),
  });
}

export function withCalls(leads: LeadsPort, calls: Partial<LeadsPort>): LeadsPort {
  return {
    get requests() {
      return leads.requests;
    },
    get pacedMs() {
      return leads.pacedMs;
    },
    get answerMs() {
      return leads.answerMs;
    },
    get lanes() {
      return leads.lanes;
    },
    outlook: () => leads.outlook(),
    list: (...args) => leads.list(...args),
    get: (...args) => leads.get(...args),
    create: (...args) => leads.create(...args),
    update: (...args) => leads.update(...args),
    delete: (...args) => leads.delete(...args),
    ...calls,
  };
}
