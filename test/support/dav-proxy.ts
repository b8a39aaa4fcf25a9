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

/** Stands before a server; `fate` decides about each request by its method and its number, from 1. */
export async function startDavProxy(origin: string, fate: (method: string, nth: number) => Fate) {
  const requests: string[] = [];
  const pass = async (from: IncomingMessage, to: ServerResponse): Promise<void> => {
    const { method = '', url = '' } = from;
    const body = await buffer(from);
    requests.push(method);
    const what = fate(method, requests.length);
    if (what === 'lost') return void to.destroy();
    if (typeof what === 'object') return void to.writeHead(what.status, what.headers).end(what.body ?? '');
    const { host: _, ...headers } = from.headers;
    const onward = request(origin + url, { method, headers });
    onward.end(body);
    const [reply] = (await once(onward, 'response')) as [IncomingMessage];
    const text = await buffer(reply);
    if (what === 'cut') return void to.destroy();
    to.writeHead(reply.statusCode ?? 500, reply.headers).end(text);
  };
  const server = createServer((from, to) => {
    pass(from, to).catch(() => to.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The methods so far. */
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
