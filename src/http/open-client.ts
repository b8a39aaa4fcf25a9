import { Client } from 'undici';

/** One connection, HTTP/1.1, nothing pipelined: undici then never sends a request a second time by itself. */
export function openClient(origin: string, connectMs: number): Client {
  return new Client(origin, { allowH2: false, pipelining: 1, connect: { timeout: connectMs } });
}
