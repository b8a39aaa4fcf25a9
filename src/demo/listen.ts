import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Begins to listen on a host, 127.0.0.1 unless given, and gives the port (0: any that is free). Rejects with the server's error. */
export async function listen(server: Server, port: number, host = '127.0.0.1'): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

export interface RequestBody {
  /** null: larger than what is read. */
  readonly text: string | null;
  readonly bytes: number;
}

/** The body of a request, cut off at `mostBytes`. Rejects when the client goes away. */
export async function readRequestBody(
  request: IncomingMessage,
  mostBytes = 1024 * 1024,
): Promise<RequestBody> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    if (!(chunk instanceof Buffer)) continue;
    bytes += chunk.length;
    if (bytes <= mostBytes) chunks.push(chunk);
  }
  return { text: bytes > mostBytes ? null : Buffer.concat(chunks).toString(), bytes };
}
