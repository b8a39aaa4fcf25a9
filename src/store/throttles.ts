import type pg from 'pg';
import type { Clock } from '../sync/clock.ts';
import type { Throttle } from '../sync/leads-port.ts';
import { serviceScope } from './service-turn.ts';

/**
 * The pause that a service asked for by Retry-After, shared by all processes that use the same key at the same
 * address (the scope of the service's limit is not shown; API reference, section 8). It is kept in the time of the
 * database, since the clocks of machines differ and jump; callers speak of it in the time of `clock`.
 */
export function createThrottle(
  pool: pg.Pool,
  baseUrl: string,
  apiKey: string,
  clock: Pick<Clock, 'now'>,
): Throttle {
  const scope = serviceScope(baseUrl, apiKey);
  return {
    async notBefore() {
      const { rows } = await pool.query<{ remaining: number }>(
        `select ceil(extract(epoch from not_before - now()) * 1000)::float8 as remaining from throttles where scope = $1`,
        [scope],
      );
      return rows[0] === undefined ? 0 : clock.now() + rows[0].remaining;
    },
    async pauseUntil(epochMs) {
      await pool.query(
        `insert into throttles (scope, not_before) values ($1, now() + $2 * interval '1 ms')
         on conflict (scope) do update set not_before = greatest(throttles.not_before, excluded.not_before)`,
        [scope, Math.max(0, epochMs - clock.now())],
      );
    },
  };
}
