import { LeadsyncError } from '../errors.ts';
import { Exchange } from '../http/exchange.ts';
import { HttpFault } from '../http/http-fault.ts';
import { openClient } from '../http/open-client.ts';
import type { Clock } from '../ports/clock.ts';

/** For connecting, and for the whole call, unless a test is in a hurry. */
const usualMs = 10_000;

/** Of a reply only the status counts; so many bytes are taken before the connection is closed. */
const bodyBytes = 16 * 1024;

interface Call {
  /** Its path and query are a key: they are in no message. */
  readonly url: string;
  /** Sent by POST as JSON; without it the call is a GET. */
  readonly json?: object;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}

/**
 * Calls an address once, follows no redirect and reads no reply but its status. Throws `alert.not-called` (retry later)
 * for anything but 2xx, or the signal's reason.
 */
export async function callAddress({ url, json, clock, signal, timeoutMs = usualMs }: Call): Promise<void> {
  const { origin, pathname, search } = new URL(url);
  const client = openClient(origin, timeoutMs);
  try {
    const exchange = Exchange.start(
      client,
      {
        method: json === undefined ? 'GET' : 'POST',
        path: `${pathname}${search}`,
        headers: {
          'user-agent': 'leadsync',
          'accept-encoding': 'identity',
          ...(json !== undefined && { 'content-type': 'application/json' }),
        },
        body: json === undefined ? null : JSON.stringify(json),
      },
      { bounds: { headersMs: timeoutMs, totalMs: timeoutMs, bodyBytes }, signal, clock, onSent: () => {} },
    );
    const { status } = await exchange.head;
    if (status >= 300 && status < 400)
      throw notCalled(`it answered with a redirect (${status}), which is not followed`);
    if (status >= 400) throw notCalled(`it answered ${status}`);
  } catch (error) {
    throw error instanceof HttpFault ? notCalled(error.message) : error;
  } finally {
    await client.destroy();
  }
}

/** Without a cause: nothing of the address may get into a log. */
function notCalled(why: string): LeadsyncError {
  return new LeadsyncError('alert.not-called', why, { retry: 'later' });
}
