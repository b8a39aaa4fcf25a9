import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type pg from 'pg';
import { LeadsyncError } from '../lib/errors.ts';
import { type Queryable, valueOf } from './database.ts';
import { assertNotMoved } from './keeper.ts';

/** How long a lease lives without renewal, in ms. Renewed three times in that time. */
const defaultLeaseMs = 30_000;

/** SQL for the key of the advisory lock that the holder of a token has as long as its session lives. */
const lockOf = (token: string): string => `hashtextextended(${token}::text, 0)`;

const unlock = `select pg_advisory_unlock(${lockOf('$1')})`;

/**
 * Of a row of `leases`: it was renewed in time and its holder's session is there. Everybody sees the locks of everybody;
 * of the sessions of another user (`pg_stat_activity`), and after `set role` even of their own, most see next to nothing.
 */
export const isAlive = `leases.expires_at > now() and exists (
  select from pg_locks l where l.locktype = 'advisory' and l.objsubid = 1 and l.granted
    and l.database = (select oid from pg_database where datname = current_database())
    and (l.classid::bigint << 32) | l.objid::bigint = ${lockOf('leases.token')})`;

/** The right to work on one connection in one mode. At most one process has it. */
export interface Lease extends AsyncDisposable {
  /** By which others recognise what its holder has claimed. */
  readonly token: string;
  /** Aborts when the lease is lost: the session broke or another process took it. */
  readonly lost: AbortSignal;
  /**
   * Aborts, together with `lost`, when this process was away for longer than the lease lives (paused, or its machine):
   * others have gone on meanwhile, and not even what it had begun may be finished.
   */
  readonly outlived: AbortSignal;
  /**
   * Throws `run.lease-lost` (retry later) unless the lease still holds; called inside the transaction that claims a
   * step, so that a worker that was paused past its lease claims nothing more. Until the transaction ends no process takes
   * the lease over: the token is a key, which a renewal leaves as it is.
   */
  assertHeld(db: pg.PoolClient): Promise<void>;
}

/**
 * Takes the lease of that name, or returns null when a living process holds it. A lease ends when it is not renewed
 * in time or when the database session of its holder is gone, so a killed process frees it at once. Throws `state.moved`.
 */
export async function acquireLease(
  pool: pg.Pool,
  name: string,
  leaseMs = defaultLeaseMs,
): Promise<Lease | null> {
  const session = await pool.connect();
  const token = randomUUID();
  // Goes on while the process is paused, and does not jump with the machine's clock.
  let confirmedAt = performance.now();
  try {
    // Before anybody can see the token: a lease without its lock is free.
    await session.query(`select pg_advisory_lock(${lockOf('$1')})`, [token]);
    const { rowCount } = await session.query(
      // Waits for no lock: who has the row locked, as a claim does until its transaction ends, has not given the lease up.
      `with me as (select pg_backend_pid() as pid, now() + $4 * interval '1 ms' as expires_at),
         free as materialized (select name from leases where name = $1 and not (${isAlive}) for update skip locked),
         taken as (update leases set token = $2, holder = $3, backend_pid = me.pid, expires_at = me.expires_at
           from me where name in (select name from free) returning 1),
         made as (insert into leases (name, token, holder, backend_pid, expires_at)
           select $1, $2, $3, me.* from me where not exists (select from leases where name = $1) on conflict do nothing returning 1)
       select from taken union all select from made`,
      [name, token, `${hostname()}:${process.pid}`, leaseMs],
    );
    if (rowCount === 0) {
      await session.query(unlock, [token]);
      session.release();
      return null;
    }
    // A move, while which nobody takes a lease, may be over only now.
    await assertNotMoved(session);
  } catch (error) {
    session.release(true);
    throw error;
  }

  const [lost, outlived] = [new AbortController(), new AbortController()];
  const lose = (cause?: unknown): void => {
    lost.abort(
      new LeadsyncError('run.lease-lost', 'another process works on this connection now', {
        retry: 'later',
        cause,
      }),
    );
  };
  session.on('error', lose);
  let isAsking = false;
  const renew = (): void => {
    if (lost.signal.aborted) return;
    const askedAt = performance.now();
    if (askedAt - confirmedAt >= leaseMs) {
      lose();
      return outlived.abort(lost.signal.reason);
    }
    if (isAsking) return;
    isAsking = true;
    session
      .query(`update leases set expires_at = now() + $3 * interval '1 ms' where name = $1 and token = $2`, [
        name,
        token,
        leaseMs,
      ])
      .then(({ rowCount }) => {
        isAsking = false;
        if (rowCount === 0) lose();
        else confirmedAt = askedAt;
      }, lose);
  };
  const renewal = setInterval(renew, leaseMs / 3);
  renewal.unref();

  return {
    token,
    lost: lost.signal,
    outlived: outlived.signal,
    async assertHeld(db) {
      lost.signal.throwIfAborted();
      const { rowCount } = await db.query(
        `select from leases where name = $1 and token = $2 and expires_at > now() for key share`,
        [name, token],
      );
      if (rowCount === 0) {
        lose();
        lost.signal.throwIfAborted();
      }
    },
    async [Symbol.asyncDispose]() {
      clearInterval(renewal);
      session.removeListener('error', lose);
      if (lost.signal.aborted) return session.release(true);
      try {
        await session.query(`delete from leases where name = $1 and token = $2`, [name, token]);
        await session.query(unlock, [token]);
        session.release();
      } catch {
        session.release(true);
      }
    },
  };
}

export function leaseHolder(pool: Queryable, name: string): Promise<string | null> {
  return valueOf(pool, `select holder from leases where name = $1 and ${isAlive}`, [name]);
}
