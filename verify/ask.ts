import { setTimeout as sleep } from 'node:timers/promises';

/** What came, whatever it was; no JSON is its text. */
interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

export const { env } = process;

/** The variables without which nothing is asked, and where they come from. */
export function needed(help: string, ...names: readonly string[]): void {
  const missing = names.filter((name) => (env[name] ?? '') === '');
  if (missing.length > 0) throw new Error(`This needs ${missing.join(', ')}: ${help}`);
}

export type Ask = (method: string, path: string, body?: unknown) => Promise<Reply>;

/**
 * Requests as they are, one after the other, without anything of an adapter. A 429 is waited for; `paceMs`: between two of one
 * kind (reads, and all others).
 */
export function asker(
  origin: string,
  headers: () => Promise<Record<string, string>> | Record<string, string>,
  paceMs = 0,
): Ask {
  const next = { read: 0, write: 0 };
  return async (method, path, body) => {
    const kind = method === 'GET' ? 'read' : 'write';
    const isText = typeof body === 'string';
    for (;;) {
      await sleep(Math.max(0, next[kind] - Date.now()));
      next[kind] = Date.now() + paceMs;
      const type = isText ? 'application/octet-stream' : 'application/json';
      const reply = await fetch(origin + path, {
        method,
        headers: { accept: 'application/json', 'content-type': type, ...(await headers()) },
        ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
        signal: AbortSignal.timeout(120_000),
        redirect: 'manual',
      });
      const text = await reply.text();
      const isJson = reply.headers.get('content-type')?.includes('json') === true && text !== '';
      if (reply.status !== 429)
        return { status: reply.status, headers: reply.headers, body: isJson ? JSON.parse(text) : text };
      next[kind] = Date.now() + (Number(reply.headers.get('retry-after')) || 10) * 1000;
    }
  };
}

/** All that a reply says under a key, however deep, in its order. */
export function said<T = unknown>(reply: unknown, key: string): T[] {
  if (typeof reply !== 'object' || reply === null) return [];
  return Object.entries(reply).flatMap(([name, value]) =>
    name === key ? [value as T] : said<T>(value, key),
  );
}
