// Not 'undici' itself: its fetch, caches and sockets are a hundred modules to load at each start.
import Client from 'undici/lib/dispatcher/client.js';

/** One connection, HTTP/1.1, no pipelining: undici then never resends by itself. */
export function openClient(origin: string, connectMs: number): Client {
  return new Client(origin, { allowH2: false, pipelining: 1, connect: { timeout: connectMs } });
}
