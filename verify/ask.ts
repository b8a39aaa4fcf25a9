import { setTimeout as sleep } from 'node:timers/promises';
import { LeadsyncError } from '../src/lib/errors.ts';

/** What came, whatever it was; no JSON is its text. */
interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

export type Ask = (method: string, path: string, body?: unknown) => Promise<Reply>;

const windowMs = 10_000;

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
    for (;;) {
      await sleep(Math.max(0, next[kind] - Date.now()));
      next[kind] = Date.now() + paceMs;
      const isText = typeof body === 'string';
      const type = isText ? 'application/octet-stream' : 'application/json';
      const response = await fetch(origin + path, {
        method,
        headers: { accept: 'application/json', 'content-type': type, ...(await headers()) },
        ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
        signal: AbortSignal.timeout(120_000),
        redirect: 'manual',
      });
      const text = await response.text();
      if (response.status !== 429)
        return { status: response.status, headers: response.headers, body: parsed(text) };
      const asked = Number(response.headers.get('retry-after') ?? 0) * 1000;
      next[kind] = Date.now() + (asked > 0 ? asked : windowMs);
    }
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A target that waits where the real one says that its quota is used up. */
export function patient<T extends object>(target: T): T {
  return new Proxy(target, {
    get(real, name) {
      const value: unknown = Reflect.get(real, name, real);
      if (typeof value !== 'function') return value;
      return async (...args: readonly unknown[]): Promise<unknown> => {
        for (;;) {
          try {
            return await Reflect.apply(value, real, args);
          } catch (error) {
            if (!(error instanceof LeadsyncError) || error.code !== 'target.rate-limited') throw error;
            await sleep(error.retryAfterMs ?? windowMs);
          }
        }
      };
    },
  });
}
