import { once } from 'node:events';
import { type IncomingMessage, Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';
import { LeadsyncError } from '../lib/errors.ts';
import { closedPages, isClosed, networkOf } from './access.ts';
import { type ServedApp, site } from './site.ts';

export type HttpServer = Awaited<ReturnType<typeof startHttpServer>>;

const requestMs = 10_000;
/** Ms after which an idle connection is closed. */
const silenceMs = 60_000;

/**
 * The worker's HTTP port: the two probes, the metrics and the status page (see site.ts). Throws `http.port-taken` or
 * `http.not-listening`. Disposing it closes every connection at once.
 */
export async function startHttpServer(app: ServedApp) {
  const { host, port, adminToken: token } = app.config.http;
  if (isClosed(app.config)) app.log.warn(closedPages);
  let handle: Hono['fetch'] = () => new Response(null, { status: 503 });
  const server = createAdaptorServer({
    fetch: (request, env) => handle(request, env),
    // The adapter would replace Request and Response for the whole process.
    overrideGlobalObjects: false,
    // For HTTP/1.0 without Host, as some load balancers probe: no name that the pages are open to.
    hostname: 'no-host.invalid',
    serverOptions: {
      headersTimeout: requestMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: requestMs / 2,
      keepAliveTimeout: 5_000,
    },
  });
  if (!(server instanceof Server)) throw new TypeError('not an HTTP server');
  server.timeout = silenceMs;
  limitConnections(server);
  server.listen(port, host);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    const code = error.code === 'EADDRINUSE' ? 'http.port-taken' : 'http.not-listening';
    const help = 'Set PORT (and HOST) to a free address.';
    throw new LeadsyncError(code, `cannot listen on ${host}:${port}: ${error.code}`, { help, cause: error });
  });
  const bound = server.address() as AddressInfo;
  const { fetch } = await site(app, {
    token,
    host,
    address: bound.address,
    publicUrl: app.config.publicUrl,
  });
  handle = fetch;
  return {
    port: bound.port,
    url: `http://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}/`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Connections at once, … */
const most = 500;
/** … and those of one address that have not asked anything. */
const mostSilent = 100;

/**
 * Keeps a place free for whoever asks: when there are too many connections, in all or from one address, the oldest that
 * has no whole request is closed. Whoever opens them and says nothing, or only half, keeps nobody away.
 */
function limitConnections(server: Server): void {
  /** The request under way on each; null: none. The one that has been silent for longest first. */
  const requests = new Map<Socket, IncomingMessage | null>();
  const isSilent = (socket: Socket): boolean => requests.get(socket)?.complete !== true;
  const closeOldest = (sockets: readonly Socket[], instead?: Socket): void => {
    const socket = sockets.find(isSilent) ?? instead;
    if (socket === undefined) return;
    requests.delete(socket);
    socket.destroy();
  };
  server.on('connection', (socket: Socket) => {
    const network = networkOf(socket.remoteAddress ?? '');
    const own = [...requests.keys()].filter((one) => networkOf(one.remoteAddress ?? '') === network);
    if (own.filter(isSilent).length >= mostSilent) closeOldest(own);
    if (requests.size >= most) closeOldest([...requests.keys()], socket);
    if (socket.destroyed) return;
    requests.set(socket, null);
    socket.once('close', () => requests.delete(socket));
  });
  server.on('request', (request, response) => {
    const { socket } = request;
    requests.set(socket, request);
    response.once('close', () => {
      // It goes to the end of the line.
      if (requests.delete(socket) && !socket.destroyed) requests.set(socket, null);
    });
  });
}
