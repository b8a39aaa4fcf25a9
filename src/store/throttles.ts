import { hash } from 'node:crypto';
import type pg from 'pg';
import type { Throttle } from '../sync/leads-port.ts';

/**
 * What was read is good for so long (ms): less than a request to a service elsewhere takes, of which one is under way in
 * another process anyway when a pause begins. It spares a query for each of many requests to a service that is near.
 */
const freshMs = 20;

/**
 * The pause that a service asked for by Retry-After, shared by all processes that use the same key at the same
 * address (the scope of the service's limit is not shown; API reference, section 8).
 */
export function createThrottle(pool: pg.Pool, baseUrl: string, apiKey: string): Throttle {
  const scope = hash('sha256', `${baseUrl}\n${apiKey}`);
  let readAt = Number.NEGATIVE_INFINITY;
  let known = 0;
  return {
    async notBefore() {
      if (performance.now() - readAt < freshMs) return known;
      const { rows } = await pool.query<{ at: number }>(
        `select ceil(extract(epoch from not_before) * 1000)::float8 as at from throttles where scope = $1`,
        [scope],
      );
      readAt = performance.now();
      known = rows[0]?.at ?? 0;
      return known;
    },
    async pauseUntil(epochMs) {
      await pool.query(
        `insert into throttles (scope, not_before) values ($1, to_timestamp($2 / 1000.0))
         on conflict (scope) do update set not_before = greatest(throttles.not_before, excluded.not_before)`,
        [scope, epochMs],
      );
      readAt = Number.NEGATIVE_INFINITY;
    },
  };
}
