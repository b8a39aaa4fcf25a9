// Not 'undici' itself: its fetch, caches and sockets are a hundred modules to load at each start.
import Client from 'undici/lib/dispatcher/client.js';
import type { ExchangeRequest } from './exchange.ts';

/** One connection, HTTP/1.1, no pipelining: undici then never resends by itself. */
export function openClient(origin: string, connectMs: number): Client {
  return new Client(origin, { allowH2: false, pipelining: 1, connect: { timeout: connectMs } });
}

/** A request with a bearer token and, when `json` is given, a body. */
export function jsonRequest(
  method: ExchangeRequest['method'],
  path: string,
  token: string,
  json: unknown,
): ExchangeRequest {
  const headers = {
    authorization: `Bearer ${token}`,
    accept: 'application/json',
    // Without compression, a limit on received bytes limits the body.
    'accept-encoding': 'identity',
    'user-agent': 'leadsync',
  };
  if (json === undefined) return { method, path, headers, body: null };
  return {
    method,
    path,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(json),
  };
}
