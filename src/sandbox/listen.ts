import type { Server } from 'node:http';

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
