import type { Clock } from '../ports/clock.ts';
import { openClient } from './client.ts';
import {
  Exchange,
  type ExchangeBounds,
  type ExchangeRequest,
  type OnReply,
  type ReplyHead,
} from './exchange.ts';

interface OneCall {
  readonly bounds: ExchangeBounds;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Called just before the first byte leaves; when it throws, nothing is sent. */
  readonly onSent?: () => void;
  readonly onReply?: OnReply | undefined;
  /** As that of an Exchange. */
  readonly into?: (chunk: Buffer) => Promise<void>;
}

/**
 * One request to an absolute address on a connection of its own, exactly one attempt, without following redirects. Throws a
 * HttpFault, or the signal's reason. Its messages hold nothing of the address.
 */
export async function callOnce(
  address: string,
  request: Omit<ExchangeRequest, 'path'>,
  { bounds, onSent = () => {}, ...rest }: OneCall,
): Promise<ReplyHead & { readonly body: Buffer }> {
  const { origin, pathname, search } = new URL(address);
  const client = openClient(origin, bounds.headersMs);
  try {
    const exchange = Exchange.start(
      client,
      { ...request, path: pathname + search },
      { bounds, onSent, ...rest },
    );
    return { ...(await exchange.head), body: await exchange.body };
  } finally {
    await client.destroy().catch(() => {});
  }
}
