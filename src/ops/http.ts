import { once } from 'node:events';
import { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';
import { LeadsyncError } from '../lib/errors.ts';
import { limitConnections } from './connections.ts';
import { LiveRuns } from './live-runs.ts';
import { closedPages, isClosed } from './closed-pages.ts';
import { type ServedApp, site } from './site.ts';

export interface HttpServer extends AsyncDisposable {
  readonly port: number;
  /** The status page. */
  readonly url: string;
}

const requestMs = 10_000;
/** Ms after which an idle connection is closed. */
const silenceMs = 60_000;

/**
 * The worker's HTTP port: the two probes, the metrics and the status page (see site.ts). Throws `http.port-taken` or
 * `http.not-listening`. Disposing it closes every connection at once.
 */
export async function startHttpServer(app: ServedApp): Promise<HttpServer> {
  const { host, port, adminToken: token } = app.config.http;
  if (isClosed(app.config)) app.log.warn(closedPages);
  const live = new LiveRuns(app);
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
  const { fetch } = await site(app, live, {
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
      live.close();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
