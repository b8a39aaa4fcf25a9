import type pg from 'pg';
import { epochMs, oneOf, type Queryable, valueOf } from './database.ts';
import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseOutage } from '../postgres/database-outage.ts';
import type { Clock } from '../ports/clock.ts';
import type { Throttle } from '../ports/leads-service.ts';

/**
 * After that the configured page size is sent again, since the service may allow it now, and replies are trusted again, since
 * an edit by a person may have looked like a wrong one.
 */
const remembered = `interval '30 days'`;

/**
 * The page size for this service (see `serviceScope`) that configured `pageSize`: smaller where the service rejected that; 0:
 * without `limit`.
 */
export async function learnedPageSize(db: pg.Pool, scope: string, pageSize: number): Promise<number> {
  const text = `select takes from services where scope = $1 and page_size = $2 and page_learned_at > now() - ${remembered}`;
  return (await valueOf<number>(db, text, [scope, pageSize])) ?? pageSize;
}

/** Stores the page size that the service accepted after it had rejected larger ones. */
export async function rememberPageSize(
  db: pg.PoolClient,
  scope: string,
  pageSize: number,
  takes: number,
): Promise<void> {
  await db.query(
    `insert into services as known (scope, page_size, takes, page_learned_at) values ($1, $2, $3, now())
     on conflict (scope) do update set page_size = excluded.page_size, takes = excluded.takes, page_learned_at = now()
     where (known.page_size, known.takes) is distinct from (excluded.page_size, excluded.takes)
       or known.page_learned_at <= now() - ${remembered}`,
    [scope, pageSize, takes],
  );
}

/** Whether a recent reply of this service to a write showed what a later read did not. */
export async function areRepliesDoubted(db: pg.Pool, scope: string): Promise<boolean> {
  const text = `select true from services where scope = $1 and doubted_at > now() - ${remembered}`;
  return (await valueOf<boolean>(db, text, [scope])) === true;
}

export async function doubtReplies(db: pg.PoolClient, scope: string): Promise<void> {
  await db.query(
    `insert into services (scope, doubted_at) values ($1, now()) on conflict (scope) do update set doubted_at = now()`,
    [scope],
  );
}

/**
 * Between two tries to note a pause while the database is away: this part of the time that it has been away, at most so
 * many ms. When it comes back, the process that knows of the pause should be first.
 */
const insist = { part: 1 / 20, mostMs: 100 };

/**
 * The pause that a service asked for by Retry-After, and the pace that was learned, shared by all processes that use the
 * same key at the same address (the scope of the service's limit is not shown; API reference, section 8). It is kept in the time of the
 * database, since the clocks of machines differ and jump; callers speak of it in the time of `clock`.
 */
export function createThrottle(
  pool: Queryable,
  baseUrl: string,
  apiKey: string,
  clock: Pick<Clock, 'now'>,
): Throttle {
  const scope = serviceScope(baseUrl, apiKey);
  let pauses = 0;
  /** Of a pause that is not stored yet. */
  let until = 0;
  return {
    get pauses() {
      return pauses;
    },
    async look() {
      // Also of one that is stored while this is asked, and perhaps not seen.
      const here = until;
      const { now, remaining, pace } = await oneOf<{
        now: number;
        remaining: number | null;
        pace: unknown;
      }>(
        pool,
        `select ${epochMs('now()')} as now, pace,
           ceil(extract(epoch from not_before - now()) * 1000)::float8 as remaining
         from (values ($1)) asked (scope) left join services using (scope)`,
        [scope],
      );
      const at = clock.now();
      const stored = remaining === null ? 0 : at + remaining;
      return { notBefore: Math.max(here, until, stored), pace, aheadMs: at - now };
    },
    async pauseUntil(epochMs, pace) {
      pauses += 1;
      until = Math.max(until, epochMs);
      const store = () =>
        pool.query(
          `insert into services (scope, not_before, pace) values ($1, now() + $2 * interval '1 ms', $3)
           on conflict (scope) do update set not_before = greatest(services.not_before, excluded.not_before),
             pace = coalesce(excluded.pace, services.pace)`,
          [scope, Math.max(0, epochMs - clock.now()), pace === undefined ? null : JSON.stringify(pace)],
        );
      await storeWhenBack(store, () => clock.now() < epochMs);
      // From then on what is stored counts alone: a person may end the wait there.
      if (until === epochMs) until = 0;
    },
    async movePace(from, to) {
      // Not worth waiting for the disk: it comes with each request.
      const { rowCount } = await pool.query(
        `update services set pace = $3 from set_config('synchronous_commit', 'off', true) where scope = $1 and pace = $2`,
        [scope, JSON.stringify(from), JSON.stringify(to)],
      );
      return rowCount === 1;
    },
  };
}

/** What a service may limit, as far as is known: a key at an address (API reference, section 8). Not reversible. */
export function serviceScope(baseUrl: string, apiKey: string): string {
  return hash('sha256', `${baseUrl}\n${apiKey}`);
}

/** Ends the wait that a service asked for. Returns until when it would have lasted; null: there was none. */
export function liftWait(pool: pg.Pool, baseUrl: string, apiKey: string): Promise<Date | null> {
  return valueOf(
    pool,
    `update services t set not_before = now()
     from (select scope, not_before from services where scope = $1 for update) before
     where t.scope = before.scope and before.not_before > now() returning before.not_before as until`,
    [serviceScope(baseUrl, apiKey)],
  );
}

/** Tries again while the database is away and `isOfUse`. A pool that is closed is another fault, and ends it, too. */
async function storeWhenBack(store: () => Promise<unknown>, isOfUse: () => boolean): Promise<void> {
  const from = performance.now();
  for (;;) {
    try {
      await store();
      return;
    } catch (error) {
      if (!isDatabaseOutage(error) || !isOfUse()) throw error;
      await sleep(Math.min(insist.mostMs, (performance.now() - from) * insist.part));
    }
  }
}
