import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type pg from 'pg';
import type { Config } from '../config/config.ts';
import type { Secret } from '../config/secret.ts';
import { LeadsyncError } from '../errors.ts';

export interface HealthServer extends AsyncDisposable {
  readonly port: number;
}

/**
 * The worker's HTTP port: `/healthz` says that the process lives, `/readyz` that the database with state and queue
 * answers. Everything else asks for the admin token when there is one. Throws `http.port-taken` or `http.not-listening`.
 */
export async function startHealthServer(
  { host, port, adminToken }: Config['http'],
  pool: pg.Pool,
): Promise<HealthServer> {
  const server = createServer((request, response) => {
    const answer = (status: number, text: string): void => {
      response.writeHead(status, {
        'content-type': 'text/plain; charset=utf-8',
        'cache-control': 'no-store',
      });
      response.end(`${text}\n`);
    };
    if (request.method !== 'GET' && request.method !== 'HEAD') return answer(405, 'method not allowed');
    if (request.url === '/healthz') return answer(200, 'ok');
    if (request.url !== '/readyz') {
      return isAdmin(request.headers.authorization, adminToken)
        ? answer(404, 'not found')
        : answer(401, 'unauthorized');
    }
    pool.query('select 1').then(
      () => answer(200, 'ready'),
      () => answer(503, 'the database does not answer'),
    );
  });
  server.requestTimeout = 10_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const code = error.code === 'EADDRINUSE' ? 'http.port-taken' : 'http.not-listening';
      reject(
        new LeadsyncError(code, `cannot listen on ${host}:${port}: ${error.code}`, {
          help: 'Set PORT (and HOST) to an address that is free.',
          cause: error,
        }),
      );
    });
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Compared by hash, in constant time, so that neither the token nor its length can be guessed from the answer's time. */
function isAdmin(header: string | undefined, token: Secret | undefined): boolean {
  if (token === undefined) return true;
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(header ?? ''), digest(`Bearer ${token.reveal()}`));
}
