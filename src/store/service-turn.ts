import { hash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { ServiceTurn } from '../sync/leads-port.ts';
import { isSessionThere } from './leases.ts';

/** A request and its reply take at most a minute; then the turn is free, whatever became of its holder (ms). */
const turnMs = 65_000;

/** How often (ms) it is looked whether the turn is free; random, so that no process is always late. */
const lookAgainMs = { least: 3, most: 12 };

/**
 * The turn to ask the service at this address with this key, among all processes. A process that dies frees it at once,
 * one that is paused after `turnMs`.
 */
export function createServiceTurn(pool: pg.Pool, baseUrl: string, apiKey: string): ServiceTurn {
  const scope = serviceScope(baseUrl, apiKey);
  return async (signal) => {
    const token = randomUUID();
    while (!(await take(pool, scope, token))) {
      const { least, most } = lookAgainMs;
      await sleep(least + Math.random() * (most - least), undefined, { signal });
    }
    return {
      async [Symbol.asyncDispose]() {
        // When the database is away, the turn ends by itself.
        await pool
          .query(`delete from service_turns where scope = $1 and token = $2`, [scope, token])
          .catch(() => {});
      },
    };
  };
}

async function take(pool: pg.Pool, scope: string, token: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    `insert into service_turns (scope, token, backend_pid, backend_start, expires_at)
     select $1, $2, pid, backend_start, now() + $3 * interval '1 ms' from pg_stat_activity where pid = pg_backend_pid()
     on conflict (scope) do update set token = excluded.token, backend_pid = excluded.backend_pid,
       backend_start = excluded.backend_start, expires_at = excluded.expires_at
     where not (service_turns.expires_at > now() and ${isSessionThere('service_turns')})`,
    [scope, token, turnMs],
  );
  return rowCount === 1;
}

/** What a service may limit, as far as is known: a key at an address (API reference, section 8). Not reversible. */
export function serviceScope(baseUrl: string, apiKey: string): string {
  return hash('sha256', `${baseUrl}\n${apiKey}`);
}
