import type pg from 'pg';
import type { Throttle } from '../sync/leads-port.ts';
import { serviceScope } from './service-turn.ts';

/**
 * The pause that a service asked for by Retry-After, shared by all processes that use the same key at the same
 * address (the scope of the service's limit is not shown; API reference, section 8).
 */
export function createThrottle(pool: pg.Pool, baseUrl: string, apiKey: string): Throttle {
  const scope = serviceScope(baseUrl, apiKey);
  return {
    async notBefore() {
      const { rows } = await pool.query<{ at: number }>(
        `select ceil(extract(epoch from not_before) * 1000)::float8 as at from throttles where scope = $1`,
        [scope],
      );
      return rows[0]?.at ?? 0;
    },
    async pauseUntil(epochMs) {
      await pool.query(
        `insert into throttles (scope, not_before) values ($1, to_timestamp($2 / 1000.0))
         on conflict (scope) do update set not_before = greatest(throttles.not_before, excluded.not_before)`,
        [scope, epochMs],
      );
    },
  };
}
