import type { z } from 'zod';
import { LeadsyncError } from '../../lib/errors.ts';
import { isLoopback } from '../../lib/loopback.ts';
import { secretsOfAddress } from '../../http/credentials.ts';
import type { Body } from '../../http/client.ts';
import { callOnce, type HttpReply } from '../../http/connection.ts';
import { type ExchangeBounds, type ExchangeRequest, type OnReply } from '../../http/exchange.ts';
import { parseJson } from '../../lib/parse-json.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Upload } from '../remote/remote-file.ts';
import type { GraphAccount } from './graph-account.ts';
import { graphFault, type GraphRefusal, lostReply, readGraphError } from './graph-fault.ts';

export interface GraphOptions {
  /** Root of the API with its version, such as `https://graph.microsoft.com/v1.0`. */
  readonly apiUrl: string;
  readonly account: GraphAccount;
  readonly clock: Clock;
  readonly onReply?: OnReply | undefined;
}

export interface GraphCall {
  readonly method?: ExchangeRequest['method'];
  /** From the root of the API on, encoded; or an absolute address that Graph gave: that is called without the token. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: object;
  readonly upload?: Upload;
  /** Statuses that are answers, besides 2xx. */
  readonly answers?: readonly number[];
  readonly into?: (chunk: Buffer) => Promise<void>;
}

export interface GraphReply extends GraphRefusal {
  /** The body, when it is JSON. */
  readonly json: unknown;
  readonly location: string | null;
}

/** Ms and bytes. A file of 250 MB at 1 MB/s takes four minutes. */
const usual: ExchangeBounds = { headersMs: 60_000, totalMs: 120_000, bodyBytes: 4 * 1024 * 1024 };
const long: ExchangeBounds = { headersMs: 600_000, totalMs: 900_000, bodyBytes: 2 ** 32 };

/** Each call is one attempt; a rejected token is renewed once. Throws for replies but 2xx and `answers`. The token goes to the API alone. */
export class GraphHttp {
  requests = 0;
  readonly name: string;
  readonly #options: GraphOptions;
  /** Epoch ms before which Microsoft wants no request. */
  #notBefore = 0;

  constructor(name: string, options: GraphOptions) {
    this.name = name;
    this.#options = options;
  }

  async read<T>(call: GraphCall, reply: z.ZodType<T>, signal: AbortSignal): Promise<T> {
    return this.parse(await this.ask(call, signal), reply);
  }

  parse<T>({ json, status }: GraphReply, reply: z.ZodType<T>): T {
    const { success, data } = reply.safeParse(json);
    if (success) return data;
    const message = `Microsoft answered ${status} for ${this.name}, but not with ${reply.description ?? 'the expected reply'}.`;
    throw new LeadsyncError('target.unavailable', message, { retry: 'later' });
  }

  /** The fault of a reply that was accepted as an answer. */
  fault(reply: GraphReply): LeadsyncError {
    return graphFault(reply, this.name);
  }

  async ask(call: GraphCall, signal: AbortSignal): Promise<GraphReply> {
    this.#checkWait();
    const { answers = [] } = call;
    if (isAbsolute(call.path)) return this.#attempt(call, signal, false);
    const reply = await this.#attempt({ ...call, answers: [...answers, 401] }, signal, false);
    return reply.status === 401 ? this.#attempt(call, signal, true) : reply;
  }

  async #attempt(call: GraphCall, signal: AbortSignal, fresh: boolean): Promise<GraphReply> {
    const { clock, apiUrl, account, onReply } = this.#options;
    signal.throwIfAborted();
    const isElsewhere = isAbsolute(call.path);
    const address = isElsewhere ? this.#trusted(call.path) : apiUrl + call.path;
    const request = {
      method: call.method ?? 'GET',
      headers: {
        accept: 'application/json',
        'user-agent': 'NONISV|leadsync|leadsync/1',
        ...call.headers,
        ...(!isElsewhere && { authorization: `Bearer ${await account.token(signal, fresh)}` }),
      },
      body: bodyOf(call),
      ...(isElsewhere && { secrets: secretsOfAddress(address, 'query') }),
    } as const;
    const isLong = call.into !== undefined || call.upload !== undefined;
    const isWrite = request.method !== 'GET';
    const reply = await callOnce(address, request, {
      bounds: isLong ? long : usual,
      signal,
      clock,
      onReply,
      ...(call.into && { into: call.into }),
      onSent: () => {
        this.requests += 1;
      },
      answers: call.answers,
      faults: {
        lost: (fault) => lostReply(fault, this.name, isWrite),
        refused: (refusal) => {
          if (refusal.waitMs !== null) this.#notBefore = clock.now() + refusal.waitMs;
          return this.fault(graphReply(refusal, isWrite));
        },
      },
    });
    return graphReply(reply, isWrite);
  }

  /** Requests during a wait make it longer. */
  #checkWait(): void {
    const ms = this.#notBefore - this.#options.clock.now();
    if (ms > 0)
      throw graphFault({ status: 429, codes: [], message: '', waitMs: ms, isWrite: false }, this.name);
  }

  #trusted(address: string): string {
    const url = URL.parse(address);
    const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
    if (url !== null && isSafe) return url.href;
    const message = `Microsoft named an address for ${this.name} that is not encrypted. Nothing was sent there.`;
    throw new LeadsyncError('target.unavailable', message, { retry: 'later' });
  }
}

function graphReply({ status, waitMs, header, body }: HttpReply, isWrite: boolean): GraphReply {
  const json = parseJson(body);
  return { status, json, waitMs, location: header('location'), isWrite, ...readGraphError(json) };
}

function bodyOf({ json, upload }: GraphCall): Body {
  if (upload !== undefined) return { upload };
  return json === undefined ? 'none' : { json };
}

const isAbsolute = (path: string): boolean => !path.startsWith('/');
