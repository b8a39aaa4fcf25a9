import { setTimeout as timer } from 'node:timers/promises';
import type { Clock } from '../ports/clock.ts';
import { type ExchangeBounds, HttpFault, type OnReply, type ReplyHead } from '../http/exchange.ts';
import { HttpConnection, jsonRequest, parseServiceAddress, type ServiceAddress } from '../http/connection.ts';
import type { Secret } from '../config/secret.ts';
import { LeadsyncError } from '../lib/errors.ts';
import {
  type ErrorBody,
  findCreatedLead,
  findLead,
  findUpdatedLead,
  idFromLocation,
  parseLeadJson,
  readErrorBody,
  readPage,
} from './read-reply.ts';
import type { LeadPage, LeadsPort, ListRequest, Outlook, Throttle } from '../ports/leads-service.ts';
import { parseHttpDate } from '../lib/retry-after.ts';
import { Redactor } from '../lib/redact.ts';
import { visibleText } from '../lib/foreign-text.ts';
import { type Lane, type Lanes, lanesOf, mostLanes } from './lanes.ts';
import { type Permission, RateLimiter } from './rate-limiter.ts';
import { LeadsApiError, lostReply, type Operation, replyFault } from './leads-api-error.ts';
import type { Lead } from '../core/lead/lead.ts';
import pRetry from 'p-retry';

export interface LeadsClientOptions {
  /** https, or http to this machine; may have a path prefix. */
  readonly baseUrl: string;
  readonly apiKey: Secret;
  /** Passed on to `GET /v1/leads`; `cursor` and `limit` are ignored. */
  readonly query: Readonly<Record<string, string>>;
  readonly throttle: Throttle;
  /** Whether others wait for the caller: then requests that may yield throw instead of sleeping. Default: false. */
  readonly isCrowded?: () => boolean;
  /** Also used for the throttle. Default: the machine's. */
  readonly clock?: Clock;
  /** Sleeps that many ms; throws the signal's reason when aborted. Default: a timer. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Fields and message never contain the key. */
  readonly log?: (
    level: 'debug' | 'warn',
    fields: Readonly<Record<string, unknown>>,
    message: string,
  ) => void;
  readonly onReply?: OnReply;
  /** The service's clock ahead of `Date.now()` in ms, to half a second, by a reply's Date header. */
  readonly onServiceClock?: (aheadMs: number) => void;
  /** Milliseconds; defaults: connect 10 s, headers 30 s, whole reply 60 s. */
  readonly timeouts?: { readonly connectMs?: number; readonly headersMs?: number; readonly totalMs?: number };
}

interface Call {
  readonly operation: Operation;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** From `/v1` on, encoded. */
  readonly path: string;
  readonly json?: unknown;
  /** 404 and 410 are answers, not faults. */
  readonly mayBeGone?: boolean;
  /** May give way to the pace: no earlier work would be lost. */
  readonly mayYield?: boolean;
  /** Awaited just before sending, and again if the request was delayed after it. */
  readonly onLeaving?: (() => Promise<void>) | undefined;
}

interface Answer {
  readonly head: ReplyHead;
  /** 404 or 410, with `mayBeGone`. */
  readonly gone: boolean;
  /** Undefined: empty, or not JSON. */
  readonly json: unknown;
  /** The body is HTML or the like: a proxy answered in place of the service, with a page for maintenance or a login. */
  readonly isMarkup: boolean;
  /** At most 200 characters of the body, without the key and without anything that may be a lead. */
  readonly excerpt: () => string;
}

const machineClock: Clock = { now: () => Date.now(), random: () => Math.random() };

/** After this many checks that came too late the database is too slow. */
const maxChecks = 5;

const bodyBytes = 16 * 1024 * 1024;

/**
 * A client of the Leads service (API reference, sections 4 to 8). Callers that share a throttle are served in order,
 * concurrently as `Lanes` allows; none during a pause after a 429. Throws LeadsApiError as `LeadsPort` says, and on
 * creation `leads.insecure-url`, `leads.bad-url`, or `leads.bad-key` for a key that no header can carry. Disposing it
 * ends the requests under way; later calls throw `leads.closed`.
 */
export class LeadsClient implements LeadsPort, AsyncDisposable {
  requests = 0;
  pacedMs = 0;
  answerMs = 0;
  readonly #options: LeadsClientOptions & Required<Pick<LeadsClientOptions, 'log' | 'clock' | 'sleep'>>;
  readonly #address: ServiceAddress;
  readonly #bounds: ExchangeBounds;
  readonly #connections: readonly HttpConnection[];
  /** The last used first: its connection is open. */
  readonly #free: HttpConnection[];
  readonly #limiter: RateLimiter;
  readonly #lanes: Lanes;
  readonly #redactor: Redactor;
  #isClosed = false;

  constructor(options: LeadsClientOptions) {
    const { throttle, isCrowded = () => false, timeouts = {}, clock = machineClock } = options;
    this.#options = { log: () => {}, sleep: sleepByTimer, ...options, clock };
    this.#address = leadsAddress(options.baseUrl);
    if (!/^[\x21-\x7e]+$/.test(options.apiKey.reveal())) {
      throw new LeadsApiError('leads.bad-key', 'The key is empty or contains characters that no key has.', {
        help: 'Copy the key again, without spaces, quotes and line breaks.',
      });
    }
    const { connectMs = 10_000, headersMs = 30_000, totalMs = 60_000 } = timeouts;
    this.#bounds = { headersMs, totalMs, bodyBytes };
    this.#limiter = new RateLimiter(throttle, clock, isCrowded);
    this.#lanes = lanesOf(throttle);
    this.#redactor = new Redactor([options.apiKey.reveal()]);
    const asking = { connectMs, clock, onReply: options.onReply };
    const { origin } = this.#address;
    this.#connections = Array.from({ length: mostLanes }, () => new HttpConnection(origin, asking));
    this.#free = [...this.#connections];
  }

  outlook(): Promise<Outlook> {
    return this.#limiter.outlook();
  }

  /** Concurrent requests allowed now, including those of others that share the throttle. */
  get lanes(): number {
    return this.#lanes.open;
  }

  async list({ cursor, limit }: ListRequest, signal: AbortSignal): Promise<LeadPage> {
    const query = new URLSearchParams(this.#options.query);
    query.delete('cursor');
    query.delete('limit');
    if (limit !== null) query.set('limit', String(limit));
    if (cursor !== null) query.set('cursor', cursor);
    // Every server reads %20 as a space; "+" only those that parse the query as a form.
    const search = query.size === 0 ? '' : `?${query.toString().replaceAll('+', '%20')}`;
    const path = `/v1/leads${search}`;
    const call = { operation: 'list', method: 'GET', path, mayYield: true } as const;
    const answer = await this.#ask(call, signal);
    return readPage(answer.json) ?? notJson(answer, 'a page of leads');
  }

  async get(id: string, signal: AbortSignal, after?: 'write'): Promise<Lead | null> {
    const mayYield = after !== 'write';
    const call = { operation: 'get', method: 'GET', path: leadPath(id), mayBeGone: true, mayYield } as const;
    const answer = await this.#ask(call, signal);
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
    const answer = await this.#ask(call, signal);
    return answer.isMarkup && !answer.gone ? notJson(answer, 'the outcome of a write') : answer;
  }

  /** At most one attempt, when a lane is free. Throws as `LeadsPort` says, or the signal's reason. */
  async #ask(call: Call, signal: AbortSignal): Promise<Answer> {
    using lane = this.#lanes.join();
    await lane.turn(signal);
    const connection = this.#free.pop();
    if (connection === undefined) throw new Error('more requests than lanes');
    try {
      return await this.#attempt(connection, call, lane, signal);
    } catch (error) {
      throw error instanceof HttpFault ? lostReply(error, this.#address.origin) : error;
    } finally {
      this.#free.push(connection);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#connections.map((connection) => connection[Symbol.asyncDispose]()));
  }

  async #attempt(connection: HttpConnection, call: Call, lane: Lane, signal: AbortSignal): Promise<Answer> {
    if (this.#isClosed) {
      throw new LeadsApiError('leads.closed', 'The Leads client was closed. No request was sent.');
    }
    const { isCurrent, limitedLately } = await this.#mayAsk(call, lane, signal);
    signal.throwIfAborted();
    const started = performance.now();
    const path = this.#address.pathPrefix + call.path;
    const request = jsonRequest(call.method, path, this.#options.apiKey.reveal(), call.json);
    let noting: ReturnType<RateLimiter['note']> = Promise.resolve(null);
    const head = await connection.ask(request, {
      bounds: this.#bounds,
      signal,
      onSent: () => {
        // Another lane may have got a 429 since the check, or while connecting.
        if (!isCurrent()) throw this.#limiter.stopped();
        this.requests += 1;
      },
      onHead: (received) => {
        // Before reading the body: other processes must know of a pause at once.
        noting = this.#limiter.note(received, signal);
        noting.catch(() => {});
        this.#tellClock(received);
        if (limitedLately || !isCurrent()) this.#lanes.limit();
        else if (received.status < 500) this.#lanes.replied();
      },
    });
    const limited = await noting;
    const text = head.body;
    const tookMs = performance.now() - started;
    this.answerMs += tookMs;
    const { log } = this.#options;
    const { operation, method } = call;
    const fields = { operation, method, path: this.#redactor.text(call.path), status: head.status };
    log('debug', { ...fields, ms: Math.round(tookMs) }, 'The Leads service replied');
    const excerpt = (): string =>
      /^\s*[[{]/.test(text) ? '(other JSON, or a part of some)' : visibleText(text, 200);
    const isMarkup = /^\s*</.test(text);
    if (head.status < 300) return { head, gone: false, json: parseLeadJson(text), isMarkup, excerpt };

    const said = this.#readError(text, fields);
    if (call.mayBeGone === true && (head.status === 404 || head.status === 410)) {
      return { head, gone: true, json: undefined, isMarkup, excerpt };
    }
    if (limited === null) throw replyFault(operation, head, said);
    if (limited.longest)
      log('warn', fields, 'The service asks to wait a day or longer; leadsync tries again after a day');
    if (!limited.asked) log('debug', fields, '429 without a usable Retry-After: backing off');
    throw this.#limiter.error(said.code);
  }

  /** Also for the others at a service that limits requests. Throws when a request that may yield would wait too long, or no request may leave now. */
  async #mayAsk({ mayYield = false, onLeaving }: Call, lane: Lane, signal: AbortSignal): Promise<Permission> {
    for (let late = 0; late < maxChecks; ) {
      signal.throwIfAborted();
      const permission = await this.#limiter.acquire(mayYield);
      const { waitMs, limitedLately, isFresh } = permission;
      if (limitedLately) {
        this.#lanes.limit();
        await lane.turn(signal);
      }
      if (waitMs > 0) {
        await this.#options.sleep(waitMs, signal);
        this.pacedMs += waitMs;
        continue;
      }
      await onLeaving?.();
      if (isFresh()) return permission;
      late += 1;
    }
    throw new LeadsyncError(
      'database.slow',
      'No request was sent: the database was too slow, repeatedly, to check the rate limit of the Leads service.',
      { retry: 'later', help: 'Check whether Postgres or this machine is overloaded.' },
    );
  }

  #tellClock({ headers: { date } }: ReplyHead): void {
    if (typeof date !== 'string') return;
    // The header has whole seconds: add half of one.
    const ahead = parseHttpDate(date) + 500 - Date.now();
    if (!Number.isNaN(ahead)) this.#options.onServiceClock?.(ahead);
  }

  /** What an error body says, shortened; the body itself is only logged at debug. */
  #readError(text: string, fields: Readonly<Record<string, unknown>>): ErrorBody {
    if (text !== '') {
      this.#options.log('debug', { ...fields, body: visibleText(text, 2000) }, 'Body of the error reply');
    }
    const { code, message } = readErrorBody(text);
    return {
      code: code === null ? null : visibleText(code, 100),
      message: message === null ? null : visibleText(message, 300),
    };
  }
}

async function sleepByTimer(ms: number, signal: AbortSignal): Promise<void> {
  await timer(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}

/** Throws `leads.insecure-url` or `leads.bad-url`; neither repeats the URL's user name, password or query. */
function leadsAddress(baseUrl: string): ServiceAddress {
  const address = parseServiceAddress(baseUrl);
  if (!('mistake' in address)) return address;
  const { mistake, host } = address;
  if (mistake === 'unencrypted')
    throw new LeadsyncError(
      'leads.insecure-url',
      `The key was not sent: http://${host} is not encrypted and not this machine.`,
      { help: `Use https://${host}.` },
    );
  throw new LeadsyncError(
    'leads.bad-url',
    'The base URL of the Leads service is not an http(s) address without user name, password, "?" and "#".',
    { help: 'Use an address such as https://api.example.com; the key has its own setting.' },
  );
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

/** The same service, but for some calls. */
export function withCalls(leads: LeadsPort, calls: Partial<LeadsPort>): LeadsPort {
  return new Proxy(leads, {
    get: (_, name) => {
      const of = name in calls ? calls : leads;
      const value: unknown = Reflect.get(of, name);
      return typeof value === 'function' ? (value.bind(of) as unknown) : value;
    },
  });
}
