import type { ServerResponse } from 'node:http';

/** A reply. `body` undefined: none. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object | undefined;
}

/** Sends a reply. Returns its status. */
export function sendReply(response: ServerResponse, { status, headers, body }: Reply): number {
  if (body === undefined) response.writeHead(status, headers).end();
  else response.writeHead(status, { ...headers, ...jsonHeaders }).end(JSON.stringify(body));
  return status;
}

/** Announces the full length, and sends half of it. */
export function sendHalf(response: ServerResponse, { status, headers, body }: Reply): number {
  const whole = Buffer.from(JSON.stringify(body ?? {}));
  response.writeHead(status, { ...headers, ...jsonHeaders, 'content-length': whole.length });
  response.write(whole.subarray(0, Math.floor(whole.length / 2)), () => response.destroy());
  return status;
}

const jsonHeaders = { 'content-type': 'application/json;charset=utf-8' };
