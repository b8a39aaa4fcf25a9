import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { Client, Dispatcher } from 'undici';
import type { Clock } from '../ports/clock.ts';
import { type Credentials, credentialsOf, type ReplyHeaders } from './credentials.ts';

/**
 * `unreachable`: nothing was sent. `unfinished`: the request was begun and no complete reply came; the service may have
 * acted. `too-large`: a 2xx reply exceeded the limit and was not read to the end.
 */
export type HttpFaultKind = 'unreachable' | 'unfinished' | 'too-large';

/** A request without a complete reply. Each client words its own message. */
export class HttpFault extends Error {
  readonly kind: HttpFaultKind;
  readonly status: number | null;

  /** `reason`: a code such as `ECONNRESET`, or some words; never received bytes. */
  constructor(kind: HttpFaultKind, reason: string, options: { status: number | null; cause?: unknown }) {
    super(reason, { cause: options.cause });
    this.name = 'HttpFault';
    this.kind = kind;
    this.status = options.status;
  }
}

export interface ExchangeRequest {
  readonly method: Dispatcher.HttpMethod;
  /** With prefix and query, encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A stream needs its length in the headers. */
  readonly body: string | Readable | null;
  /** What lets this request in besides its headers: parts of an address. */
  readonly secrets?: readonly string[];
}

export interface ExchangeBounds {
  /** From writing the request to the reply's headers, ms. */
  readonly headersMs: number;
  /** From the call to the last byte of the reply, ms. */
  readonly totalMs: number;
  /** Bytes of a 2xx body. Of other replies only the first 64 KiB are read: their status tells the outcome. */
  readonly bodyBytes: number;
}

/** Called once per request with the reply's status, or why there is none. `aborted`: by us. */
export type OnReply = (ending: number | HttpFaultKind | 'aborted') => void;

export interface ReplyHead {
  readonly status: number;
  readonly headers: ReplyHeaders;
  /** Epoch ms at which the headers arrived. */
  readonly receivedAt: number;
}

interface ExchangeOptions {
  readonly bounds: ExchangeBounds;
  readonly signal: AbortSignal;
  readonly onSent: () => void;
  readonly onReply?: OnReply | undefined;
  readonly onHead?: (head: ReplyHead) => void;
  /** Takes a 2xx body chunk by chunk, so that it need not fit in memory; `body` is then empty. While it is busy nothing more is received. */
  readonly into?: (chunk: Buffer) => Promise<void>;
  readonly clock: Clock;
}

const errorBodyBytes = 64 * 1024;

/**
 * One request and its reply on an undici client: exactly one attempt. undici resends only pipelined and HTTP/2
 * requests; the client's owner turns both off, and a second start is refused here as well. `head` and `body` reject
 * with a HttpFault, or with the signal's reason. The body of a non-2xx reply never rejects: it is what arrived. What the
 * reply repeats of the request's secrets, in whatever form, is removed from both; what goes `into` a file is not.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #head = Promise.withResolvers<ReplyHead>();
  readonly #body = Promise.withResolvers<string>();
  readonly head = this.#head.promise;
  readonly body = this.#body.promise;
  readonly #credentials: Credentials;
  readonly #options: ExchangeOptions;
  readonly #release: () => void;
  #controller: Dispatcher.DispatchController | null = null;
  #ended = false;
  #status = 0;
  #encoding: ReplyHeaders[string];
  #chunks: Buffer[] = [];
  #size = 0;
  #kept = Promise.resolve();

  /** `onSent` is called just before the first byte: if it throws, nothing is sent, and `head` and `body` reject with its error. */
  static start(client: Client, request: ExchangeRequest, options: ExchangeOptions): Exchange {
    const exchange = new Exchange(credentialsOf(request), options);
    const headersTimeout = options.bounds.headersMs;
    try {
      client.dispatch(
        {
          method: request.method,
          path: request.path,
          body: request.body,
          headers: { ...request.headers },
          headersTimeout,
          bodyTimeout: 0,
        },
        exchange,
      );
    } catch (error) {
      exchange.#fail(exchange.#translate(error));
    }
    return exchange;
  }

  private constructor(credentials: Credentials, options: ExchangeOptions) {
    this.#credentials = credentials;
    this.#options = options;
    const { bounds, signal } = options;
    const onAbort = (): void => this.#fail(signal.reason);
    const timer = setTimeout(() => {
      const late = new Error(`no complete reply within ${bounds.totalMs} ms`);
      this.#break(late);
      this.#controller?.abort(late);
    }, bounds.totalMs);
    signal.addEventListener('abort', onAbort, { once: true });
    this.#release = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    // Not unhandled: callers await these later.
    this.head.catch(() => {});
    this.body.catch(() => {});
    if (signal.aborted) onAbort();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#ended || this.#controller !== null) {
      controller.abort(new Error('The request has already ended.'));
      return;
    }
    try {
      this.#options.onSent();
      this.#controller = controller;
    } catch (error) {
      this.#fail(error);
      controller.abort(new Error('The request must not be sent now.'));
    }
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: ReplyHeaders): void {
    if (status < 200) return;
    this.#status = status;
    if (!this.#ended) this.#options.onReply?.(status);
    this.#encoding = headers['content-encoding'];
    const clean = this.#credentials.withoutHeaders(headers, this.#isSuccess());
    const head = { status, headers: clean, receivedAt: this.#options.clock.now() };
    this.#options.onHead?.(head);
    this.#head.resolve(head);
    if (this.#isSuccess() && Number(headers['content-length']) > this.#options.bounds.bodyBytes)
      this.#failTooLarge();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // After a resume undici gives empty chunks: one that pauses again would be followed by the next one for ever.
    if (this.#ended || chunk.length === 0) return;
    const { into } = this.#options;
    this.#size += chunk.length;
    if (into !== undefined && this.#isSuccess()) this.#pass(controller, () => into(chunk));
    else this.#chunks.push(chunk);
    if (this.#isSuccess()) {
      if (this.#size > this.#options.bounds.bodyBytes) this.#failTooLarge();
    } else if (this.#size >= errorBodyBytes) {
      this.#finish();
      this.#controller?.abort(new Error('The rest of the body is not needed.'));
    }
  }

  onResponseEnd(): void {
    void this.#kept.then(() => this.#finish());
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#break(error);
  }

  /** Takes no more of the reply until the chunk is taken. */
  #pass(controller: Dispatcher.DispatchController, take: () => Promise<void>): void {
    controller.pause();
    this.#kept = this.#kept
      .then(take)
      .then(() => controller.resume())
      .catch((error: unknown) => this.#fail(error));
  }

  /** No more of the reply comes. Of a failure, what arrived is enough. */
  #break(error: Error): void {
    if (this.#status !== 0 && !this.#isSuccess()) this.#finish();
    else this.#fail(this.#translate(error));
  }

  #isSuccess(): boolean {
    return this.#status >= 200 && this.#status < 300;
  }

  #finish(): void {
    if (this.#ended) return;
    this.#end();
    const isSuccess = this.#isSuccess();
    const bytes = Buffer.concat(this.#chunks).subarray(0, isSuccess ? undefined : errorBodyBytes);
    this.#chunks = [];
    const text = decodeBody(bytes, this.#encoding, this.#options.bounds.bodyBytes);
    this.#body.resolve(text.then((plain) => this.#credentials.without(plain, isSuccess)));
  }

  #failTooLarge(): void {
    const reason = `more than ${this.#options.bounds.bodyBytes} bytes`;
    this.#fail(new HttpFault('too-large', reason, { status: this.#status }));
  }

  #fail(error: unknown): void {
    if (this.#ended) return;
    this.#end();
    if (this.#status === 0) this.#options.onReply?.(error instanceof HttpFault ? error.kind : 'aborted');
    this.#chunks = [];
    this.#head.reject(error);
    this.#body.reject(error);
    this.#controller?.abort(error instanceof Error ? error : new Error('The request was given up.'));
  }

  #end(): void {
    this.#ended = true;
    this.#release();
  }

  /** By whether the request was begun, not by the kind of error: before that the service has certainly not acted. */
  #translate(error: unknown): HttpFault {
    const kind = this.#controller === null ? 'unreachable' : 'unfinished';
    const status = this.#status === 0 ? null : this.#status;
    return new HttpFault(kind, describe(error), { status, cause: withoutData(error) });
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const code: unknown = Reflect.get(error, 'code');
  return typeof code === 'string' && code !== '' ? code : error.message;
}

/** undici's parser error holds received bytes, which may repeat the key. */
function withoutData(error: unknown): unknown {
  return error instanceof Error && Reflect.has(error, 'data') ? new Error(error.message) : error;
}

const decoders: Readonly<Record<string, typeof gunzip.__promisify__>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/**
 * The text of a body: UTF-8, decompressed if the service compressed it unasked, at most `maxBytes` long. What cannot be
 * read becomes a short remark in brackets, which is not JSON: undecoded bytes must reach neither a sheet nor a message.
 */
async function decodeBody(
  body: Buffer,
  encoding: string | readonly string[] | undefined,
  maxBytes: number,
): Promise<string> {
  const name = String(encoding ?? 'identity')
    .trim()
    .toLowerCase();
  if (body.length === 0) return '';
  const unpack = decoders[name];
  if (unpack === undefined && name !== 'identity' && name !== '') return `(compressed as ${name}, unasked)`;
  let plain: Buffer;
  try {
    plain = unpack === undefined ? body : await unpack(body, { maxOutputLength: maxBytes });
  } catch {
    return `(compressed as ${name}, broken, or more than ${maxBytes} bytes)`;
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(plain);
  } catch {
    return '(not UTF-8 text)';
  }
}
