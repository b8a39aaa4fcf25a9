import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { callOnce } from '../../src/http/connection.ts';
import { systemClock } from '../../src/ports/clock.ts';

const content = Buffer.from(Array.from({ length: 400_000 }, (_, row) => `row ${row}\n`).join(''));
const bounds = { headersMs: 60_000, totalMs: 60_000, bodyBytes: 16 * 1024 * 1024 };
const arrived = 'undici:request:bodyChunkReceived';

async function download(
  reply: (response: ServerResponse) => void,
  into: (chunk: Buffer) => Promise<void>,
): Promise<{ readonly status: number }> {
  const server = createServer((_, response) => reply(response)).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const { signal } = new AbortController();
  const request = { method: 'GET', headers: {}, body: 'none' } as const;
  return callOnce(address, request, { bounds, signal, clock: systemClock, into });
}

const replies = {
  'of a length that is told': (response: ServerResponse) =>
    response.writeHead(200, { 'content-length': content.length }).end(content),
  'in parts': (response: ServerResponse) => Readable.from(pieces()).pipe(response),
  'that ends with the connection': (response: ServerResponse) =>
    response.writeHead(200, { connection: 'close', 'transfer-encoding': 'identity' }).end(content),
};

function* pieces(): Generator<Buffer> {
  for (let at = 0; at < content.length; at += 10_000) yield content.subarray(at, at + 10_000);
}

test.each(Object.entries(replies))(
  'a body %s arrives byte for byte, and no faster than it is taken',
  async (_, reply) => {
    let [received, ahead] = [0, 0];
    const onArrived = (message: unknown): void => {
      received += (message as { chunk: Buffer }).chunk.length;
    };
    subscribe(arrived, onArrived);
    onTestFinished(() => void unsubscribe(arrived, onArrived));
    const [slow, fast]: [Buffer[], Buffer[]] = [[], []];
    let taken = 0;
    await download(reply, async (chunk) => {
      // Time enough for a server that is not held up to send everything.
      for (let turns = 0; turns < 20; turns++) await turn();
      slow.push(Buffer.from(chunk));
      ahead = Math.max(ahead, received - taken);
      taken += chunk.length;
    });
    expect(Buffer.concat(slow).equals(content)).toBe(true);
    expect(ahead).toBeLessThan(1024 * 1024);
    await download(reply, async (chunk) => void fast.push(Buffer.from(chunk)));
    expect(Buffer.concat(fast).equals(content)).toBe(true);
  },
);

test('a body that cannot be kept ends the download with the fault', async () => {
  const full = new Error('the disk is full');
  const into = async (): Promise<void> => {
    await turn();
    throw full;
  };
  await expect(download(replies['in parts'], into)).rejects.toBe(full);
});
