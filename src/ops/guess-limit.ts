import { isIPv6 } from 'node:net';

/** So many wrong tokens in a row are answered at once, … */
const burst = 10;
/** … and afterwards one in so many ms. */
const refillMs = 1_000;
/** So many addresses are remembered. Of more, the one that was wrong longest ago is forgotten. */
const mostAddresses = 10_000;

/**
 * Slows down whoever tries tokens: when too many from an address were wrong, no further one from there is looked at for
 * a moment. Others, and whoever is logged in, do not notice. Times are ms of a clock that only goes forward.
 */
export class GuessLimit {
  /** When each address may be wrong `burst` times again, the one that was wrong longest ago first. */
  readonly #freeAt = new Map<string, number>();

  /** How many addresses are remembered. */
  get size(): number {
    return this.#freeAt.size;
  }

  /** How long (ms) until the next token from this address is looked at; 0: now. */
  waitMs(address: string, now: number): number {
    const freeAt = this.#freeAt.get(networkOf(address)) ?? 0;
    return Math.max(0, freeAt - now - (burst - 1) * refillMs);
  }

  /** A token from this address was wrong. */
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

/** What one person has: an IPv4 address, or an IPv6 network of 64 bits. */
function networkOf(address: string): string {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? address;
  const [before = '', after] = address.split('%', 1)[0]?.split('::') ?? [];
  const [head, tail] = [before.split(':').filter(Boolean), (after ?? '').split(':').filter(Boolean)];
  const gap = after === undefined ? 0 : 8 - head.length - tail.length;
  return [...head, ...Array.from({ length: gap }, () => '0'), ...tail].slice(0, 4).join(':');
}
