import { isIPv6 } from 'node:net';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import type { Logger } from 'pino';
import { shownPath } from './requests.ts';

/** Wrong tokens of an address that are answered at once, … */
const burst = 10;
/** … and the ms between later ones. */
const refillMs = 1_000;
/** Addresses that are remembered; the one with the oldest wrong token is forgotten first. */
const mostAddresses = 10_000;

/**
 * Limits the guessing of tokens: after too many wrong ones from an address, further ones from there wait a moment. Other
 * addresses, and logged-in browsers, are not affected. Times are ms of a monotonic clock.
 */
export class GuessLimit {
  /** When each address has its full `burst` again, the one with the oldest wrong token first. */
  readonly #freeAt = new Map<string, number>();

  /** The number of remembered addresses. */
  get size(): number {
    return this.#freeAt.size;
  }

  /** Ms until the next token from this address is checked; 0: now. */
  waitMs(address: string, now: number): number {
    const freeAt = this.#freeAt.get(networkOf(address)) ?? 0;
    return Math.max(0, freeAt - now - (burst - 1) * refillMs);
  }

  /** Notes a wrong token from this address. */
  missed(address: string, now: number): void {
    const network = networkOf(address);
    const freeAt = Math.max(now, this.#freeAt.get(network) ?? 0) + refillMs;
    this.#freeAt.delete(network);
    this.#freeAt.set(network, freeAt);
    for (const [oldest, at] of this.#freeAt) {
      if (at > now && this.#freeAt.size <= mostAddresses) break;
      this.#freeAt.delete(oldest);
    }
  }
}

/**
 * What `look` finds by a secret that a request brings; `wrong`: null, which counts. `later`: too many wrong ones came from the
 * address of the request; the reply has a Retry-After. A right one is found all the same, since others may share the address,
 * unless it is `guessable`: then nothing is looked for. The log has the wrong ones that were looked for.
 */
export async function checkGuess<Found extends object>(
  c: Context,
  log: Logger,
  guesses: GuessLimit,
  look: () => Found | null | Promise<Found | null>,
  guessable = false,
): Promise<Found | 'wrong' | 'later'> {
  const address = addressOf(c);
  const wait = (): number => guesses.waitMs(address, performance.now());
  const found = guessable && wait() > 0 ? null : await look();
  if (found !== null) return found;
  const waitMs = wait();
  if (waitMs > 0) {
    c.header('Retry-After', String(Math.ceil(waitMs / 1000)));
    return 'later';
  }
  guesses.missed(address, performance.now());
  log.warn({ address, path: shownPath(c.req.path) }, 'a wrong token or link was refused');
  return 'wrong';
}

/** Who asks; behind a proxy, the proxy. */
export function addressOf(c: Context): string {
  return getConnInfo(c).remote.address ?? '';
}

/** The addresses of one person: an IPv4 address, or an IPv6 network of 64 bits. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? address;
  const [before = '', after] = address.split('%', 1)[0]?.split('::') ?? [];
  const [head, tail] = [before.split(':').filter(Boolean), (after ?? '').split(':').filter(Boolean)];
  const gap = after === undefined ? 0 : 8 - head.length - tail.length;
  return [...head, ...Array.from({ length: gap }, () => '0'), ...tail].slice(0, 4).join(':');
}
