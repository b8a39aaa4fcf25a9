import { setTimeout as timer } from 'node:timers/promises';
import type { Client } from 'undici';
import type { Clock } from '../ports/clock.ts';
import { Exchange, type ExchangeBounds, HttpFault, type OnReply, type ReplyHead } from '../http/exchange.ts';
import {
  jsonRequest,
  openClient,
  toExchange,
  parseServiceAddress,
  type ServiceAddress,
} from '../http/client.ts';
import type { Secret } from '../config/secret.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { type ErrorBody, parseLeadJson, readErrorBody } from './read-reply.ts';
import type { Outlook, Throttle } from '../ports/leads-service.ts';
import { parseHttpDate } from '../lib/retry-after.ts';
import { Redactor } from '../lib/redact.ts';
import { visibleText } from '../lib/visible-text.ts';
import { type Lane, type Lanes, lanesOf, mostLanes } from './lanes.ts';
import { RateLimiter, type Permission } from './rate-limiter.ts';
import { LeadsApiError, lostReply, type Operation, replyFault } from './leads-api-error.ts';

export interface LeadsHttpOptions {
  /** https, or http to this machine; may have a path prefix. */
  readonly baseUrl: string;
  readonly apiKey: Secret;
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

export interface Call {
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

export interface Answer {
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

/** Every reply that is no answer becomes a LeadsApiError. */
export class LeadsHttp implements AsyncDisposable {
  readonly #options: LeadsHttpOptions & Required<Pick<LeadsHttpOptions, 'log' | 'clock' | 'sleep'>>;
  readonly #address: ServiceAddress;
  readonly #bounds: ExchangeBounds;
  readonly #clients: readonly Client[];
  /** The last used first: its connection is open. */
  readonly #free: Client[];
  readonly #limiter: RateLimiter;
  readonly #lanes: Lanes;
  readonly #redactor: Redactor;
  #requests = 0;
  #pacedMs = 0;
  #answerMs = 0;

  constructor(options: LeadsHttpOptions) {
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
    this.#clients = Array.from({ length: mostLanes }, () => openClient(this.#address.origin, connectMs));
    this.#free = [...this.#clients];
  }

  get requests(): number {
    return this.#requests;
  }

  get pacedMs(): number {
    return this.#pacedMs;
  }

  get answerMs(): number {
    return this.#answerMs;
  }

  outlook(): Promise<Outlook> {
    return this.#limiter.outlook();
  }

  /** Concurrent requests allowed now, including those of others that share the throttle. */
  get lanes(): number {
    return this.#lanes.open;
  }

  /** At most one attempt, when a lane is free. Throws as `LeadsPort` says, or the signal's reason. */
  async ask(call: Call, signal: AbortSignal): Promise<Answer> {
    using lane = this.#lanes.join();
    await lane.turn(signal);
    const client = this.#free.pop();
    if (client === undefined) throw new Error('more requests than lanes');
    try {
      return await this.#attempt(client, call, lane, signal);
    } catch (error) {
      throw error instanceof HttpFault ? lostReply(error, this.#address.origin) : error;
    } finally {
      this.#free.push(client);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.destroy()));
  }

  async #attempt(client: Client, call: Call, lane: Lane, signal: AbortSignal): Promise<Answer> {
    if (client.destroyed) {
      throw new LeadsApiError('leads.closed', 'The Leads client was closed. No request was sent.');
    }
    const { isCurrent, limitedLately } = await this.#mayAsk(call, lane, signal);
    signal.throwIfAborted();
    const started = performance.now();
    const path = this.#address.pathPrefix + call.path;
    const request = toExchange(jsonRequest(call.method, path, this.#options.apiKey.reveal(), call.json));
    let noting: ReturnType<RateLimiter['note']> = Promise.resolve(null);
    const exchange = Exchange.start(client, request, {
      bounds: this.#bounds,
      signal,
      clock: this.#options.clock,
      onReply: this.#options.onReply,
      onSent: () => {
        // Another lane may have got a 429 since the check, or while connecting.
        if (!isCurrent()) throw this.#limiter.stopped();
        this.#requests += 1;
      },
      onHead: (received) => {
        noting = this.#limiter.note(received, signal);
        noting.catch(() => {});
        if (limitedLately || !isCurrent()) this.#lanes.limit();
        else if (received.status < 500) this.#lanes.replied();
      },
    });
    const head = await exchange.head;
    this.#tellClock(head);
    // Before reading the body: other processes must know of a pause at once.
    const limited = await noting;
    const text = await exchange.body;
    const tookMs = performance.now() - started;
    this.#answerMs += tookMs;
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
        this.#pacedMs += waitMs;
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
