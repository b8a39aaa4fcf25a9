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
