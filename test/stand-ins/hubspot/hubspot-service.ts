import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { ApiFault, badRequest, missingScopes, notFound, rateLimited, unauthenticated } from './api-fault.ts';
import { isAfter, playFault } from './hubspot-fault.ts';
import type { BeforeRequest, HubSpotLogEntry } from './hubspot-sandbox.ts';
import { findOperation, type PortalBehaviour } from './operations.ts';
import type { Portal } from './portal.ts';
import type { RateLimits } from './rate-limits.ts';
import { type Reply, sendReply } from './send-reply.ts';

interface HubSpotServiceOptions {
  readonly portal: Portal;
  readonly token: string;
  readonly scopes: readonly string[];
  readonly limits: RateLimits | null;
  readonly behaviour: PortalBehaviour;
}

const batchSchema = z.object({ inputs: z.array(z.unknown()) });

/** Replies to API requests. */
export class HubSpotService {
  readonly log: HubSpotLogEntry[] = [];
  before: BeforeRequest | null = null;
  readonly #options: HubSpotServiceOptions;
  #count = 0;

  constructor(options: HubSpotServiceOptions) {
    this.#options = options;
  }

  /** Replies to one request. Rejects only for a bug of the stand-in or a client that disconnected. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const method = request.method ?? 'GET';
    const body = await text(request);
    const kind = findOperation(method, url)?.operation.kind ?? 'other';
    const fault = (await this.before?.({ kind, method, n: ++this.#count })) ?? undefined;
    const reply =
      fault === undefined || isAfter(fault)
        ? this.#reply(method, url, request.headers.authorization, body)
        : { status: 0 };
    const status =
      fault === undefined ? sendReply(response, reply) : playFault(fault, reply, request, response);
    const path = url.pathname + url.search;
    this.log.push({ kind, method, path, inputs: countInputs(body), status });
  }

  #reply(method: string, url: URL, authorization: string | undefined, body: string): Reply {
    const { portal, behaviour, token, scopes, limits } = this.#options;
    let headers: Record<string, string> = {};
    try {
      if (authorization !== `Bearer ${token}`) throw unauthenticated();
      const found = findOperation(method, url);
      const taken = limits?.take(portal.now(), found?.operation.kind === 'search');
      headers = taken?.headers ?? {};
      if (taken !== undefined && taken.reached !== null) throw rateLimited(taken.reached);
      if (found === null) throw notFound('resource not found');
      const { operation, name } = found;
      if (operation.scope !== null && !scopes.includes(operation.scope))
        throw missingScopes([operation.scope]);
      const query = Object.fromEntries(url.searchParams);
      const call = { portal, behaviour, query, name, body: parseBody(method, body) };
      return { ...operation.act(call), headers };
    } catch (error) {
      if (error instanceof ApiFault) return { status: error.status, headers, body: error.body };
      throw error;
    }
  }
}

function parseBody(method: string, body: string): unknown {
  if (method === 'GET' || method === 'DELETE') return undefined;
  const parsed = parseJson(body);
  if (parsed === undefined) throw badRequest('Invalid input JSON: it could not be parsed.');
  return parsed;
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function countInputs(body: string): number {
  return batchSchema.safeParse(parseJson(body)).data?.inputs.length ?? 0;
}
