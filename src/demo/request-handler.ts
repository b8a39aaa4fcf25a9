import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type Fault, FaultSchedule, onTop, type RetryAfter, type Route } from './faults.ts';
import type { SandboxBehaviour } from './options.ts';
import { createRandom, type Random } from './random.ts';
import { RateMeter, RateWindow } from './rate-limit.ts';
import { errorReply, maintenancePage, type Reply, sendReply } from './reply.ts';
import { readRequestBody } from './listen.ts';
import { answer, findRoute, invalidCursor, type Service, unauthenticated } from './service.ts';

interface Decision {
  readonly reply: Reply;
  readonly delivered?: (epochMs: number) => void;
}

/** Takes each request through the rate window and limit, the faults and the service, and sends what comes out. */
export class RequestHandler {
  readonly records = new Records();
  readonly #window = new RateWindow();
  readonly #meter = new RateMeter();
  readonly #random: Random;
  #service: Service;
  #schedule: FaultSchedule;

  constructor(service: Service, seed: number) {
    this.#service = service;
    this.#random = createRandom(seed, 'faults');
    this.#schedule = new FaultSchedule(service.options.faults, this.#random);
  }

  get options(): Service['options'] {
    return this.#service.options;
  }

  /** Changes behaviour from the next request on; new faults start to count at 0. */
  set(changes: Partial<SandboxBehaviour>): void {
    const options = { ...this.#service.options, ...changes };
    this.#service = {
      ...this.#service,
      options: { ...options, apiKey: options.apiKey ?? this.options.apiKey },
    };
    if (changes.faults !== undefined) this.#schedule = new FaultSchedule(changes.faults, this.#random);
  }

  /** Handles one request to its end. Rejects when the client goes away or `signal` is aborted before that, or on a bug. */
  async handle(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const at = this.#service.clock.now();
    const method = request.method ?? '';
    const [path = '', search] = (request.url ?? '').split('?', 2);
    const query = new URLSearchParams(search);
    const { route, id } = findRoute(method, path);
    const replied = (status: number | null): void =>
      this.records.replied({ at, method, path, query: search === undefined ? '' : `?${search}`, status });
    this.records.arrived(route);
    // Node would write the machine's time.
    response.setHeader('date', new Date(at).toUTCString());

    const tooEarly = this.#checkWindow(at);
    if (tooEarly !== null) {
      replied(sendReply(response, tooEarly, undefined));
      return;
    }

    const tooMany = this.#checkRate(at);
    if (tooMany !== null) {
      response.once('finish', () => tooMany.delivered?.(this.#service.clock.now()));
      replied(sendReply(response, tooMany.reply, undefined));
      return;
    }

    const due = this.#schedule.due({ method, route, hasCursor: query.has('cursor') });
    const extras = due.filter((fault) => onTop.includes(fault.kind));
    const main = due.find((fault) => !extras.includes(fault));
    this.records.faults(extras.length + (main === undefined ? 0 : 1));
    if (main?.kind === 'reset') {
      replied(null);
      request.socket.resetAndDestroy();
      return;
    }

    const played = new Set(extras.map((fault) => fault.kind));
    const authorization = request.headers.authorization;
    const decision =
      this.#refuse(main) ??
      (await this.#answer(request, (body) => ({ route, id, query, authorization, body, played }), main));
    for (const fault of extras) {
      if (fault.kind === 'slow') await delay(fault.ms, undefined, { signal });
    }
    response.once('finish', () => decision.delivered?.(this.#service.clock.now()));
    replied(sendReply(response, decision.reply, main));
  }

  #checkWindow(at: number): Reply | null {
    const { waitMs, early } = this.#window.check(at, this.options.earlyGraceMs);
    if (early) this.records.early();
    if (waitMs === 0 || this.options.rateWindow === 'count') return null;
    return this.#rateLimited(String(Math.ceil(waitMs / 1000)));
  }

  #checkRate(at: number): Decision | null {
    const { rate } = this.options;
    const seconds = rate === undefined ? 0 : this.#meter.take(rate, at);
    return seconds === 0 ? null : this.#refuseFor({ seconds });
  }

  #refuseFor(retryAfter: RetryAfter): Decision {
    const announcement = this.#window.announce(retryAfter, this.#service.clock.now());
    return { reply: this.#rateLimited(announcement.retryAfter), delivered: announcement.delivered };
  }

  /** Faults that replace the answer: nothing is done. */
  #refuse(fault: Fault | undefined): Decision | null {
    switch (fault?.kind) {
      case 'status': {
        if (fault.status !== 429) return { reply: this.#statusReply(fault.status) };
        return this.#refuseFor(fault.retryAfter ?? 'none');
      }
      case 'revoked':
        return { reply: unauthenticated(this.options) };
      case 'maintenance':
        return { reply: maintenancePage };
      case 'expired-cursor':
        return { reply: invalidCursor(this.options) };
      default:
        return null;
    }
  }

  async #answer(
    request: IncomingMessage,
    toCall: (body: string) => Parameters<typeof answer>[0],
    fault: Fault | undefined,
  ): Promise<Decision> {
    const { text: body } = await readRequestBody(request);
    if (body === null) {
      return { reply: errorReply(this.options, 413, 'request.tooLarge', 'The body is above 1 MB.') };
    }
    const reply = answer(toCall(body), this.#service);
    return { reply: fault?.kind === 'error-after-write' ? this.#statusReply(500) : reply };
  }

  #rateLimited(retryAfter: string | null): Reply {
    const reply = errorReply(this.options, 429, 'request.rateLimited', 'Rate limit exceeded.');
    return retryAfter === null
      ? reply
      : { ...reply, headers: { ...reply.headers, 'retry-after': retryAfter } };
  }

  #statusReply(status: number): Reply {
    const code =
      status === 401 ? 'auth.unauthenticated' : status === 403 ? 'auth.forbidden' : 'sandbox.fault';
    const reply = errorReply(this.options, status, code, `The sandbox plays a fault: status ${status}.`);
    if (status >= 400) return reply;
    return { ...reply, headers: { ...reply.headers, location: '/elsewhere' } };
  }
}

export interface LogEntry {
  /** Epoch ms of the arrival. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  /** With its question mark; empty when there is none. */
  readonly query: string;
  /** Null: the client got no reply. */
  readonly status: number | null;
}

const logLength = 10_000;

/** What the sandbox remembers of the requests it got; the log keeps the last 10,000. */
class Records {
  /** `requests`: refused and spoilt ones included; `early`: those that came before an announced Retry-After had passed. */
  readonly #counts = { requests: 0, early: 0, throttled: 0, faults: 0 };
  readonly #byRoute: Record<Route, number> = { list: 0, get: 0, create: 0, update: 0, delete: 0 };
  readonly #log: LogEntry[] = [];

  get stats() {
    return { ...this.#counts, byRoute: { ...this.#byRoute } };
  }

  get log(): readonly LogEntry[] {
    return this.#log.slice(-logLength);
  }

  arrived(route: Route | undefined): void {
    this.#counts.requests++;
    if (route !== undefined) this.#byRoute[route]++;
  }

  early(): void {
    this.#counts.early++;
  }

  faults(count: number): void {
    this.#counts.faults += count;
  }

  replied(entry: LogEntry): void {
    if (entry.status === 429) this.#counts.throttled++;
    this.#log.push(entry);
    if (this.#log.length > 2 * logLength) this.#log.splice(0, logLength);
  }
}
