import type { IncomingMessage, Server } from 'node:http';

/** Begins to listen on a host, 127.0.0.1 unless given, and gives the port (0: any that is free). Rejects with the server's error. */
export async function listen(server: Server, port: number, host = '127.0.0.1'): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.once('error', reject);
  server.listen(port, host, () => {
    const address = server.address();
    resolve(typeof address === 'object' && address !== null ? address.port : port);
  });
  return promise;
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
