import type { Clock } from '../ports/clock.ts';
import { openClient } from './client.ts';
import { secretsOfAddress } from './credentials.ts';
import { Exchange, HttpFault, type ReplyHead } from './exchange.ts';

export interface Call {
  /** By POST with this as JSON; absent: by GET. */
  readonly json?: object;
  /** Ms from the call to the end of the reply. */
  readonly totalMs: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Called just before the first byte leaves; when it throws, nothing is sent. */
  readonly onSent?: () => void;
}

/** A reply; `body` is empty when it was cut, and of a failure at most its first 64 KiB. */
export interface CalledReply extends Pick<ReplyHead, 'status' | 'headers' | 'receivedAt'> {
  readonly body: string;
}

/** Longer replies to a success (bytes) are not read to the end. */
const bodyBytes = 16 * 1024;

/**
 * Exactly once, without following redirects. A success whose body is cut is one. Throws a HttpFault, or the signal's reason. Its messages hold
 * nothing of the address.
 */
export async function callAddress(
  address: string,
  { json, totalMs, signal, clock, onSent = () => {} }: Call,
): Promise<CalledReply> {
  const { origin, pathname, search } = new URL(address);
  const client = openClient(origin, totalMs);
  try {
    const exchange = Exchange.start(
      client,
      {
        method: json === undefined ? 'GET' : 'POST',
        path: pathname + search,
        headers: {
          'user-agent': 'leadsync',
          'accept-encoding': 'identity',
          ...(json && { 'content-type': 'application/json' }),
        },
        body: json === undefined ? null : JSON.stringify(json),
        secrets: secretsOfAddress(address, 'path'),
      },
      { bounds: { headersMs: totalMs, totalMs, bodyBytes }, signal, onSent, clock },
    );
    const { status, headers, receivedAt } = await exchange.head;
    return { status, headers, receivedAt, body: await exchange.body.catch(cutBody) };
  } finally {
    await client.destroy().catch(() => {});
  }
}

function cutBody(error: unknown): string {
  if (error instanceof HttpFault) return '';
  throw error;
}
