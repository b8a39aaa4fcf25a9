import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { Secret } from '../../../src/config/secret.ts';
import { LeadsClient, type LeadsClientOptions } from '../../../src/leads-api/leads-client.ts';
import type { LeadsPort } from '../../../src/ports/leads-service.ts';
import { MemoryThrottle } from '../../support/memory-throttle.ts';

export const key = 'sk-test-7f3a9c0b';
export const never = new AbortController().signal;

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly at: number;
}

export interface TestServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly seen: SeenRequest[];
  /** TCP connections accepted so far. */
  readonly connections: number;
}

/** An HTTP server on a free port that answers as told and keeps what it was asked. */
export async function startServer(
  answer: (response: ServerResponse, request: SeenRequest, count: number) => void,
  host = '127.0.0.1',
): Promise<TestServer> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const at = Date.now();
    const { method = '', url = '', headers } = request;
    const respond = async (): Promise<void> => {
      const entry = { method, url, headers, body: await text(request), at };
      seen.push(entry);
      answer(response, entry, seen.length);
    };
    respond().catch(() => response.destroy());
  });
  return listen(server, host, seen);
}

/** A server of raw bytes: `answer` is called with each chunk a client sends. */
export async function startSocketServer(
  answer: (socket: Socket, data: string, count: number) => void,
): Promise<TestServer> {
  const seen: SeenRequest[] = [];
  let count = 0;
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (data) => {
      count += 1;
      answer(socket, data.toString(), count);
    });
  });
  return listen(server, '127.0.0.1', seen);
}

async function listen(server: Server, host: string, seen: SeenRequest[]): Promise<TestServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, resolve);
  });
  const port = portOf(server);
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    seen,
    get connections() {
      return connections;
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** The port that a server listens on. */
export function portOf(server: Server): number {
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.');
  return address.port;
}

export function json(response: ServerResponse, status: number, value: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

export function client(
  server: { readonly url: string },
  options: Partial<LeadsClientOptions> = {},
): LeadsPort & AsyncDisposable {
  return new LeadsClient({
    baseUrl: server.url,
    apiKey: new Secret(key),
    query: {},
    throttle: new MemoryThrottle(),
    ...options,
  });
}

/** The error that a call throws; fails when it throws none. */
export async function thrown(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error('The call did not throw.');
}
