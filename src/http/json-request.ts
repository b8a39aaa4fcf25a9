import type { ExchangeRequest } from './exchange.ts';

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
    // A bound on the bytes received is a bound on the body only when nothing is compressed.
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
