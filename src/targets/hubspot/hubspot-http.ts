import type { z } from 'zod';
import { LeadsyncError } from '../../lib/errors.ts';
import { parseJson } from '../../lib/parse-json.ts';
import { jsonRequest, parseServiceAddress, type ServiceAddress } from '../../http/client.ts';
import { HttpConnection, type HttpReply } from '../../http/connection.ts';
import type { ExchangeBounds } from '../../http/exchange.ts';
import { hubspotFault, lostReply, type RequestKind, senselessReply } from './hubspot-fault.ts';
import type { HubSpotOptions } from './hubspot-options.ts';
import { readError } from './hubspot-replies.ts';
import { type RateLimits, rateLimitsOf } from './rate-limits.ts';

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
    const { status, waitMs } = reply;
    const said = readError(jsonIn(reply.body));
    if (status === 429) return this.limits.refused(reply, said.policyName);
    return hubspotFault({ status, said, retryAfterMs: waitMs, kind });
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
