import type { Secret } from '../../config/secret.ts';
import type { ExchangeBounds, HttpFault, OnReply, ReplyHead } from '../../http/exchange.ts';
import { type Clock, perClock } from '../../ports/clock.ts';
import type { ColumnMapping } from '../shared/columns.ts';
import { LeadsyncError } from '../../lib/errors.ts';
import { faultRow, type FaultTable, ServiceFault, whenAgain } from '../../http/faults.ts';
import { parseJson, visibleText } from '../../lib/foreign-text.ts';
import { readError, type SaidFault } from './hubspot-replies.ts';
import type { z } from 'zod';
import {
  HttpConnection,
  type HttpReply,
  jsonRequest,
  parseServiceAddress,
  type ServiceAddress,
} from '../../http/connection.ts';
import { hash } from 'node:crypto';
import { Temporal } from 'temporal-polyfill';
import { Semaphore } from '../../lib/waiting.ts';

/** A mapping's `column` is a property's internal name. */
export interface HubSpotOptions extends ColumnMapping {
  /** `https://api.hubapi.com`, or a stand-in's address. */
  readonly apiUrl: string;
  /** Of a service key or a private app. */
  readonly accessToken: Secret;
  /** IANA zone of `date` properties. */
  readonly timeZone: string;
  readonly clock: Clock;
  /** Also shows companies without a request, for matching. */
  readonly showsOthers?: boolean;
  /** Called for each request. */
  readonly onReply?: OnReply;
}

/** A write without a reply may still be carried out: an immediate check could miss it, and the write be repeated. */
const lateWriteMs = 10_000;
/** The least time HubSpot wants a locked record to be left alone. */
const lockedMs = 2_000;
const migrationMs = 60_000;

const scopes =
  'crm.objects.companies.read, crm.objects.companies.write, crm.schemas.companies.read and crm.schemas.companies.write';

/** Only a write can have taken effect. */
export type RequestKind = 'read' | 'write';

export class HubSpotFault extends ServiceFault {
  readonly said: SaidFault | null;

  constructor(
    code: string,
    message: string,
    {
      said = null,
      ...options
    }: ConstructorParameters<typeof ServiceFault>[2] & { said?: SaidFault | null } = {},
  ) {
    super(code, message, options);
    this.said = said;
  }
}

export function isForbidden(error: unknown): error is HubSpotFault {
  return error instanceof HubSpotFault && error.code === 'target.forbidden';
}

interface Refusal {
  readonly status: number;
  readonly said: SaidFault;
  /** From the header, if usable. */
  readonly waitMs: number | null;
  readonly kind: RequestKind;
  /** The status, and HubSpot's number of the case. */
  readonly named: string;
  /** HubSpot's words, or a full stop. */
  readonly saying: string;
}

/** HubSpot, error handling. 423: a record is locked; 477: the account moves. */
const faults: FaultTable<Refusal> = {
  '401': ({ named, saying }) => [
    'target.unauthenticated',
    `HubSpot rejected the access token ${named}${saying}`,
    'Create a service key in HubSpot (Development, Keys, Service keys) and set it as HUBSPOT_TOKEN.',
  ],
  '403': ({ said, named, saying }) => {
    const missing = scopesOf(said);
    const lacks = 'The access token lacks';
    if (missing.length === 0) {
      const help = `Give the key these scopes: ${scopes}.`;
      return ['target.forbidden', `${lacks} permission in HubSpot ${named}${saying}`, help];
    }
    const [what, it] = missing.length === 1 ? ['the scope', 'it'] : ['each of the scopes', 'one of them'];
    const help = `Add ${it} to the key in HubSpot: Development, Keys, Service keys.`;
    return ['target.forbidden', `${lacks} ${what} ${missing.join(', ')} ${named}.`, help];
  },
  '404': ({ named, saying }) => [
    'target.not-found',
    `HubSpot does not have this address ${named}${saying}`,
    'Check the address of the API, and that this version of leadsync is still supported by HubSpot.',
  ],
  '423': ({ named, saying, waitMs }) => [
    'target.busy',
    `HubSpot has temporarily locked a record ${named}${saying}`,
    null,
    Math.max(lockedMs, waitMs ?? 0),
  ],
  '477': ({ named, saying, waitMs }) => [
    'target.unavailable',
    `HubSpot is moving the account's data ${named}${saying}`,
    null,
    waitMs ?? migrationMs,
  ],
  '408 5xx': ({ named, saying, kind, waitMs }) => [
    'target.unavailable',
    `HubSpot could not serve the request ${named}${saying}${effect(kind)}`,
    null,
    again(kind, waitMs),
  ],
  other: ({ named, saying }) => ['target.refused', `HubSpot refuses the request ${named}${saying}`],
};

/** By the status alone. */
function hubspotFault({ status, waitMs }: HttpReply, said: SaidFault, kind: RequestKind): HubSpotFault {
  const id = said.correlationId === null ? '' : `, correlation id ${visibleText(said.correlationId, 100)}`;
  const named = `(${status}${id})`;
  const refusal = { status, said, waitMs, kind, named, saying: saying(said) };
  const [code, message, options] = faultRow(faults, refusal);
  return new HubSpotFault(code, message, { status, said, words: wordsOf(said), ...options });
}

function saying(said: SaidFault): string {
  const words = wordsOf(said);
  return words === null ? '.' : `: ${words}`;
}

/** `target.unavailable` or `target.too-large`. */
function lostReply(fault: HttpFault, kind: RequestKind): HubSpotFault {
  const { kind: how, message: reason, cause } = fault;
  if (how === 'too-large') {
    const message = `HubSpot sent ${reason} for one reply; the rest was not read.`;
    return new HubSpotFault('target.too-large', message);
  }
  if (how === 'unreachable') {
    const message = `HubSpot cannot be reached (${visibleText(reason, 100)}). Nothing was sent.`;
    return new HubSpotFault('target.unavailable', message, {
      retry: 'now',
      cause,
      help: 'Check the network and the address of the API.',
    });
  }
  const message = `HubSpot did not send a complete reply (${visibleText(reason, 100)}).${effect(kind)}`;
  return new HubSpotFault('target.unavailable', message, { cause, ...whenAgain(again(kind, null)) });
}

/** For an unintelligible 2xx: a proxy's page, or a truncated body. */
function senselessReply(status: number, kind: RequestKind, wanted: string): HubSpotFault {
  const message = `HubSpot answered ${status}, but not with ${wanted}.${effect(kind)}`;
  return new HubSpotFault('target.unavailable', message, { status, ...whenAgain(again(kind, null)) });
}

export function notRead(said: SaidFault): HubSpotFault {
  const message = `HubSpot did not return all requested companies${saying(said)}`;
  return new HubSpotFault('target.unavailable', message, { words: wordsOf(said), retry: 'now' });
}

/** HubSpot's own words; the useful part is in the details. */
export function wordsOf(said: SaidFault): string | null {
  const messages = said.errors.flatMap(({ message }) => message ?? []);
  const text = messages.length > 0 ? messages.join(' ') : (said.message ?? said.category ?? '');
  return text.trim() === '' ? null : visibleText(text, 300);
}

/** Alternative scopes, from the reply's context or details. */
function scopesOf({ context, errors }: SaidFault): string[] {
  const names = ['requiredGranularScopes', 'missingScopes', 'requiredScopes'];
  const own = names.flatMap((name) => context[name] ?? []).flatMap((text) => text.split(/[\s,]+/));
  const all = [...own, ...errors.flatMap(scopesOf)].filter((scope) => /^[\w.-]{1,100}$/.test(scope));
  return [...new Set(all)];
}

const again = (kind: RequestKind, askedMs: number | null): number | 'now' =>
  askedMs ?? (kind === 'write' ? lateWriteMs : 'now');

function effect(kind: RequestKind): string {
  return kind === 'write' ? ' The write may have taken effect; leadsync checks before it writes again.' : '';
}

export interface HubSpotCall<Reply> {
  readonly kind: RequestKind;
  /** Default: POST with a body, else GET. */
  readonly method?: 'PATCH';
  /** From the root on, encoded. */
  readonly path: string;
  readonly json?: unknown;
  /** Of the body (null: empty; undefined: not JSON). Its description names it in messages. */
  readonly reply: z.ZodType<Reply>;
}

/** Ms and bytes. A batch of 100 companies with several properties of 65,536 characters is tens of MB. */
const connectMs = 10_000;
const bounds: ExchangeBounds = { headersMs: 60_000, totalMs: 120_000, bodyBytes: 64 * 1024 * 1024 };

/** Each is one attempt, sequential per token within this process, and not sent when the limits forbid it. Throws for any other reply. */
export class HubSpotHttp implements AsyncDisposable {
  /** Shared by all users of this token. */
  readonly limits: RateLimits;
  /** Its number, once asked for: a key belongs to one portal. */
  portal: string | null = null;
  readonly #token: HubSpotOptions['accessToken'];
  readonly #address: ServiceAddress;
  readonly #connection: HttpConnection;
  #isClosed = false;

  /** Throws `target.bad-url`, or `target.unauthenticated` for a token that no header can carry. */
  constructor(options: HubSpotOptions) {
    const { accessToken, apiUrl, clock, onReply } = options;
    this.#token = accessToken;
    this.#address = hubspotAddress(apiUrl);
    this.#connection = new HttpConnection(this.#address.origin, { connectMs, clock, onReply });
    const token = accessToken.reveal();
    if (!/^[\x21-\x7e]+$/.test(token)) {
      throw new LeadsyncError(
        'target.unauthenticated',
        'The access token for HubSpot is empty or contains characters that no token has.',
        { help: 'Copy it again, without spaces, quotes and line breaks.' },
      );
    }
    this.limits = rateLimitsOf(clock, apiUrl, token);
  }

  get requests(): number {
    return this.#connection.requests;
  }

  async ask<Reply>(call: HubSpotCall<Reply>, signal: AbortSignal): Promise<Reply> {
    using _turn = await this.limits.oneAtATime.acquire(signal);
    if (this.#isClosed)
      throw new LeadsyncError('target.closed', 'The target was closed. No request was sent.');
    this.limits.check();
    const path = this.#address.pathPrefix + call.path;
    const method = call.method ?? (call.json === undefined ? 'GET' : 'POST');
    const request = jsonRequest(method, path, this.#token.reveal(), call.json);
    const { status, body } = await this.#connection.ask(request, {
      bounds,
      signal,
      onHead: (received) => this.limits.note(received),
      faults: {
        lost: (fault) => lostReply(fault, call.kind),
        refused: (reply) => this.#refused(reply, call.kind),
      },
    });
    const { success, data } = call.reply.safeParse(jsonIn(body));
    if (success) return data;
    throw senselessReply(status, call.kind, call.reply.description ?? 'the expected reply');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#connection[Symbol.asyncDispose]();
  }

  #refused(reply: HttpReply, kind: RequestKind): LeadsyncError {
    const said = readError(jsonIn(reply.body));
    if (reply.status === 429) return this.limits.refused(reply, said.policyName);
    return hubspotFault(reply, said, kind);
  }
}

const jsonIn = (body: string): unknown => (body === '' ? null : parseJson(body));

function hubspotAddress(apiUrl: string): ServiceAddress {
  const address = parseServiceAddress(apiUrl);
  if (!('mistake' in address)) return address;
  const { mistake, host } = address;
  const why =
    mistake === 'unencrypted'
      ? `http://${host} is not encrypted and not this machine`
      : 'it is not a plain https URL';
  throw new LeadsyncError('target.bad-url', `The address of HubSpot's API cannot be used: ${why}.`, {
    help: 'Use https://api.hubapi.com.',
  });
}

/** Window of HubSpot's limit per app. */
const windowMs = 10_000;
const secondMs = 1_000;
/** Interval between attempts while the end of the portal's day is unknown. */
const zoneUnknownMs = 3_600_000;
/** Random delay after midnight, when the daily limit ends, so that clients do not all return together. */
const mostJitterMs = 5 * 60_000;

/** What one token may send, by HubSpot's headers and refusals. Does not wait: throws with the time to wait. */
export class RateLimits {
  readonly oneAtATime = new Semaphore(1);
  readonly #clock: Clock;
  #shut = { from: 0, until: 0, day: null as string | null };
  /** The portal's IANA time zone, at whose midnight the daily limit ends; null: unknown. */
  #zone: string | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  setZone(name: string): void {
    try {
      Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
      this.#zone = name;
    } catch {
      // Unknown here: the day ends when HubSpot accepts requests again.
    }
  }

  check(): void {
    const now = this.#clock.now();
    // After the clock was set back, the limit must not last longer.
    if (now < this.#shut.from)
      this.#shut = { ...this.#shut, from: now, until: now + this.#shut.until - this.#shut.from };
    const waitMs = this.#shut.until - now;
    if (waitMs > 0) throw this.#rateLimited('No request was sent', waitMs);
  }

  /** Records what a reply leaves over. Search replies and some others lack the headers. */
  note(head: ReplyHead): void {
    if (number(head, 'x-hubspot-ratelimit-daily-remaining') === 0) this.#shutForDay(head.receivedAt);
    if (number(head, 'x-hubspot-ratelimit-remaining') === 0)
      this.#shutFor(intervalMs(head) ?? windowMs, head.receivedAt);
  }

  /** The fault of a 429; `policy`: `policyName` in the body. */
  refused({ waitMs, ...head }: Omit<HttpReply, 'body' | 'header'>, policy: string | null): LeadsyncError {
    if (waitMs !== null) this.#shutFor(waitMs, head.receivedAt);
    else if (policy === 'DAILY') this.#shutForDay(head.receivedAt);
    else this.#shutFor(policy === 'SECONDLY' ? secondMs : (intervalMs(head) ?? windowMs), head.receivedAt);
    const remains = Math.max(1, this.#shut.until - this.#clock.now());
    const named = policy === null ? '429' : `429, ${policy}`;
    return this.#rateLimited(`HubSpot did not act on the request (${named})`, remains);
  }

  #shutFor(waitMs: number, receivedAt: number, day: string | null = null): void {
    const until = receivedAt + waitMs;
    if (until > this.#shut.until) this.#shut = { from: receivedAt, until, day };
    else this.#shut = { ...this.#shut, from: receivedAt };
  }

  #shutForDay(now: number): void {
    if (this.#zone === null) {
      this.#shutFor(zoneUnknownMs, now, "until midnight in the portal's time zone, which is not known yet");
      return;
    }
    const here = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(this.#zone);
    const midnight = here.add({ days: 1 }).startOfDay();
    const waitMs = midnight.epochMilliseconds - now + Math.floor(this.#clock.random() * mostJitterMs);
    const until = midnight.toPlainDateTime().toString({ smallestUnit: 'minute' }).replace('T', ' ');
    this.#shutFor(waitMs, now, `until ${until} in the portal's time zone (${this.#zone})`);
  }

  #rateLimited(what: string, waitMs: number): LeadsyncError {
    const { day } = this.#shut;
    const why = day === null ? "HubSpot's limit is used up" : `HubSpot's daily limit is used up ${day}`;
    const remains = `${Math.ceil(waitMs / 1000)} s remain`;
    return new LeadsyncError('target.rate-limited', `${what}: ${why}; ${remains}.`, {
      retry: 'later',
      retryAfterMs: Math.ceil(waitMs),
    });
  }
}

const limitsOf = perClock((clock) => new RateLimits(clock));

const rateLimitsOf = (clock: Clock, apiUrl: string, token: string): RateLimits =>
  limitsOf(clock, `${apiUrl} ${hash('sha256', token)}`);

function intervalMs(head: ReplyHead): number | null {
  const ms = number(head, 'x-hubspot-ratelimit-interval-milliseconds');
  return ms !== null && ms > 0 ? ms : null;
}

function number({ headers }: ReplyHead, name: string): number | null {
  const text = headers[name];
  return typeof text === 'string' && /^\d{1,12}$/.test(text.trim()) ? Number(text) : null;
}
