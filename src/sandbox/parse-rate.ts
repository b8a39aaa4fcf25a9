import { LeadsyncError } from '../errors.ts';
import type { RateLimit } from './rate-limit.ts';

/**
 * Reads a rate limit as `sandbox --rate` takes it: `10/s` (a token bucket for a second's requests), `10/s,burst=50`
 * (for 50), `10/s,window=60` (600 in each minute). Throws `sandbox.rate-invalid`.
 */
export function parseRate(text: string): RateLimit {
  const [, rate = '', name, size] =
    /^(\d{1,6}(?:\.\d{1,3})?)\/s(?:,(burst|window)=([1-9]\d{0,5}))?$/.exec(text) ?? [];
  const perSecond = Number(rate);
  if (!(perSecond > 0)) {
    throw new LeadsyncError(
      'sandbox.rate-invalid',
      `The rate ${JSON.stringify(text)} cannot be understood.`,
      {
        help: 'Requests a second, such as 10/s; with the size of the bucket, 10/s,burst=50, or of a fixed window in seconds, 10/s,window=60.',
      },
    );
  }
  if (name === 'window') return { perSecond, window: Number(size) };
  return { perSecond, burst: size === undefined ? Math.max(1, Math.ceil(perSecond)) : Number(size) };
}
