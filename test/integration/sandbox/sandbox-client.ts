import { z } from 'zod';
import type { Sandbox } from '../../../src/demo/sandbox.ts';

const pageSchema = z.object({
  items: z.array(z.looseObject({ id: z.string() })),
  nextCursor: z.string().nullable(),
});

interface Sent {
  readonly method?: string;
  readonly body?: unknown;
  readonly key?: string;
}

/** Sends one request with the sandbox's key (or `key`) and reads the reply to its end. */
export async function send(sandbox: Sandbox, path: string, { method = 'GET', body, key }: Sent = {}) {
  const response = await fetch(sandbox.url + path, {
    method,
    headers: { authorization: `Bearer ${key ?? sandbox.apiKey}` },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  const json: unknown = isJson ? JSON.parse(text) : undefined;
  return { status: response.status, headers: response.headers, text, json };
}

/** One page of leads, checked. */
export async function page(sandbox: Sandbox, query = '') {
  return pageSchema.parse((await send(sandbox, `/v1/leads${query}`)).json);
}

/** The ids of each page of one scan. */
export async function pages(sandbox: Sandbox, limit: number): Promise<string[][]> {
  const ids: string[][] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { items, nextCursor } = await page(sandbox, `?limit=${limit}${query}`);
    ids.push(items.map((item) => item.id));
    cursor = nextCursor;
  } while (cursor !== null && ids.length < 1000);
  return ids;
}

/** The id of the oldest lead. */
export function firstId(sandbox: Sandbox): string {
  return sandbox.leads.list()[0]?.id ?? '';
}

/** A request that creates a lead. */
export const post = { method: 'POST', body: { companyName: 'Neu GmbH', stage: 'new' } };
