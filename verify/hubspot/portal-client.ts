import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Secret } from '../../src/config/secret.ts';
import { hubspotFault } from '../../src/targets/hubspot/hubspot-http.ts';
import { readError } from '../../src/targets/hubspot/hubspot-replies.ts';
import { visibleText } from '../../src/lib/visible-text.ts';
import { Differs, Skipped } from '../check.ts';

/** What HubSpot answered, whatever it was. */
export interface PortalReply {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined: none, or no JSON. */
  readonly body: unknown;
}

const replyMs = 60_000;
const mostTries = 5;
/** The window of HubSpot's limit, in case a 429 says nothing else. */
const windowMs = 10_000;

/** Requests as they are, one after the other, without anything of the adapter. */
export class PortalClient {
  readonly #origin: string;
  readonly #token: Secret;
  /** Epoch ms before which no request is sent, since none is left. */
  #from = 0;

  constructor(apiUrl: string, token: Secret) {
    this.#origin = apiUrl.replace(/\/+$/, '');
    this.#token = token;
  }

  /**
   * One request; a 429 is waited for. Throws Skipped when HubSpot cannot or may not answer: no reply, 401, 403, 423, 477,
   * 5xx, the limit of the day.
   */
  async ask(method: string, path: string, json?: unknown): Promise<PortalReply> {
    for (let tries = 1; ; tries++) {
      await sleep(Math.max(0, this.#from - Date.now()));
      const reply = await this.#attempt(method, path, json);
      const { status, headers, body } = reply;
      if (headers.get('x-hubspot-ratelimit-remaining') === '0') this.#from = Date.now() + windowMs;
      const said = readError(body);
      if (status === 429) {
        if (said.policyName === 'DAILY') throw new Skipped('the limit of the day is used up (429 DAILY)');
        if (tries === mostTries) throw new Skipped(`the limit stays used up (429 ${said.policyName ?? ''})`);
        const asked = Number(headers.get('retry-after') ?? Number.NaN) * 1000;
        this.#from = Date.now() + (asked > 0 ? asked : windowMs);
        continue;
      }
      if ([401, 403, 408, 423, 477].includes(status) || status >= 500) {
        const fault = hubspotFault({ status, said, retryAfterMs: null, kind: 'read' });
        throw new Skipped(`${fault.message}${fault.help === undefined ? '' : ` ${fault.help}`}`);
      }
      return reply;
    }
  }

  async #attempt(method: string, path: string, json: unknown): Promise<PortalReply> {
    try {
      const response = await fetch(this.#origin + path, {
        method,
        headers: {
          authorization: `Bearer ${this.#token.reveal()}`,
          accept: 'application/json',
          ...(json !== undefined && { 'content-type': 'application/json' }),
        },
        ...(json !== undefined && { body: JSON.stringify(json) }),
        signal: AbortSignal.timeout(replyMs),
        redirect: 'manual',
      });
      const { status, headers } = response;
      return { status, headers, body: parseJson(await response.text()) };
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      throw new Skipped(`no reply from ${this.#origin}: ${visibleText(String(cause), 200)}`);
    }
  }
}

const fault = z.looseObject({
  category: z.string().optional(),
  message: z.string().optional(),
  context: z.record(z.string(), z.unknown()).optional(),
  errors: z.array(z.looseObject({ code: z.string().optional() })).optional(),
});
const company = z.looseObject({
  id: z.string(),
  properties: z.record(z.string(), z.string().nullish()),
  archived: z.boolean().optional(),
  new: z.boolean().optional(),
  objectWriteTraceId: z.string().nullish(),
});
const batch = z.looseObject({
  results: z.array(company).default([]),
  errors: z.array(fault).default([]),
  numErrors: z.number().optional(),
  paging: z.looseObject({ next: z.looseObject({ after: z.string() }).optional() }).optional(),
});

export type ShownCompany = z.infer<typeof company>;
export type BatchFault = z.infer<typeof fault>;
export type Batch = z.infer<typeof batch> & { readonly status: number };

/** A batch, or a page of a list. Throws Differs for another status than 2xx, and for what is neither. */
export function batchOf(reply: PortalReply): Batch {
  if (reply.status >= 300) throw new Differs(`refused: ${describeReply(reply)}`);
  const found = batch.safeParse(reply.body ?? {});
  if (!found.success) throw new Differs(`an answer of another shape: ${describeReply(reply)}`);
  return { ...found.data, status: reply.status };
}

/** Throws Differs unless it is refused with this status; gives HubSpot's words. */
export function refusedWith(status: number, reply: PortalReply): string {
  if (reply.status !== status) throw new Differs(`${describeReply(reply)}, expected ${status}`);
  return describeReply(reply);
}

/** What is said against an input: codes of its properties, or else the category. */
export function codesOf({ category, errors = [] }: BatchFault): string {
  const codes = errors.flatMap(({ code }) => code ?? []);
  return codes.length > 0 ? codes.join(', ') : (category ?? 'no code');
}

/** The same of a whole reply. */
export function codesOfReply({ body }: PortalReply): string {
  return codesOf(fault.safeParse(body).data ?? {});
}

export function describeReply({ status, body }: PortalReply): string {
  if (body === undefined) return `${status} without a body`;
  const { message } = fault.safeParse(body).data ?? {};
  return `${status} ${visibleText(status < 300 ? JSON.stringify(body) : (message ?? JSON.stringify(body)), 300)}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
