import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * What becomes of a request: passed on; `lost`: it never arrives; `cut`: it is carried out, and the answer is lost; or an answer
 * of the proxy's own.
 */
export type Fate =
  | 'pass'
  | 'lost'
  | 'cut'
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string };

/** A request that was carried out. */
export interface Passed {
  readonly method: string;
  readonly path: string;
  /** By the server. */
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
}

/**
 * Stands before a server; `fate` decides about each request by its method, its number from 1, and its path. `isUnseen`: the server knows
 * itself by the address of the proxy.
 */
export async function startDavProxy(
  origin: string,
  fate: (method: string, nth: number, path: string) => Fate,
  isUnseen = false,
) {
  const requests: string[] = [];
  const pass = async (from: IncomingMessage, to: ServerResponse): Promise<void> => {
    const { method = '', url = '' } = from;
    const body = await buffer(from);
    requests.push(method);
    const what = fate(method, requests.length, url);
    if (what === 'lost') return void to.destroy();
    if (typeof what === 'object') return void to.writeHead(what.status, what.headers).end(what.body ?? '');
    const { host = '', ...rest } = from.headers;
    const headers = { ...rest, ...(isUnseen && { host }), ...self.changed(method) };
    const onward = request(origin + url, { method, headers });
    onward.end(body);
    const [reply] = (await once(onward, 'response')) as [IncomingMessage];
    const text = await buffer(reply);
    const status = reply.statusCode ?? 500;
    await self.beforeReply({ method, path: url, status, headers: from.headers });
    if (what === 'cut') return void to.destroy();
    to.writeHead(status, reply.headers).end(text);
  };
  const server = createServer((from, to) => {
    pass(from, to).catch(() => to.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const self = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The methods so far. */
    requests,
    /** Called when the server has carried out a request. */
    beforeReply: (_: Passed): Promise<void> | void => {},
    /** Headers that a request gets on its way. */
    changed: (_method: string): Record<string, string> => ({}),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return self;
}
