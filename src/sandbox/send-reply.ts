import type { ServerResponse } from 'node:http';
import type { Fault } from './faults.ts';
import type { Reply } from './reply.ts';

const tenMegabytes = 10 * 1024 * 1024;

/**
 * Sends a reply, spoilt by `fault` when it is one that spoils replies. Returns the status that was sent, or null when
 * the client got none.
 */
export function sendReply(response: ServerResponse, reply: Reply, fault: Fault | undefined): number | null {
  switch (fault?.kind) {
    case 'lost-reply':
      response.destroy();
      return null;
    case 'unfinished':
      return sendHalf(response, reply);
    case 'not-json':
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
      response.end('<!doctype html><title>Maintenance</title><p>We will be back soon.</p>');
      return 200;
    case 'huge':
      // Without a length, so that it can only be noticed while reading.
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
      response.write(Buffer.alloc(tenMegabytes, 'x'));
      response.end();
      return 200;
    default:
      response.writeHead(reply.status, { ...reply.headers, ...lengthOf(reply) });
      response.end(reply.body ?? undefined);
      return reply.status;
  }
}

function lengthOf(reply: Reply): Record<string, string> {
  if (reply.body === null) return reply.status === 204 ? {} : { 'content-length': '0' };
  return { 'content-length': String(Buffer.byteLength(reply.body)) };
}

/** The length is announced in full. Without a body there is nothing to halve: the connection ends without a reply. */
function sendHalf(response: ServerResponse, reply: Reply): number | null {
  if (reply.body === null) {
    response.destroy();
    return null;
  }
  const body = Buffer.from(reply.body);
  response.writeHead(reply.status, { ...reply.headers, ...lengthOf(reply) });
  response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.destroy());
  return reply.status;
}
