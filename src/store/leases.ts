import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type pg from 'pg';
import { LeadsyncError } from '../errors.ts';

/** How long a lease lives without renewal, in ms. Renewed three times in that time. */
const leaseMs = 30_000;

/** The right to work on one connection in one mode. At most one process has it. */
export interface Lease extends AsyncDisposable {
  /** Aborts when the lease is lost: the session broke or another process took it. */
  readonly lost: AbortSignal;
  /**
   * Throws `run.lease-lost` (retry later) unless the lease still holds; called inside the transaction that claims a
   * step, so that a worker that was paused past its lease claims nothing more.
   */
  assertHeld(db: pg.PoolClient): Promise<void>;
}

/**
 * Takes the lease of that name, or returns null when a living process holds it. A lease ends when it is not renewed
 * in time or when the database session of its holder is gone, so a killed process frees it at once.
 */
export async function acquireLease(pool: pg.Pool, name: string): Promise<Lease | null> {
  const session = await pool.connect();
  const token = randomUUID();
  try {
    const { rowCount } = await session.query(
      `insert into leases (name, token, holder, backend_pid, backend_start, expires_at)
       select $1, $2, $3, pid, backend_start, now() + $4 * interval '1 ms' from pg_stat_activity where pid = pg_backend_pid()
       on conflict (name) do update set token = excluded.token, holder = excluded.holder,
         backend_pid = excluded.backend_pid, backend_start = excluded.backend_start, expires_at = excluded.expires_at
       where leases.expires_at < now() or not exists (
         select from pg_stat_activity a where a.pid = leases.backend_pid and a.backend_start = leases.backend_start)`,
      [name, token, `${hostname()}:${process.pid}`, leaseMs],
    );
    if (rowCount === 0) {
      session.release();
      return null;
    }
  } catch (error) {
    session.release(true);
    throw error;
  }

  const lost = new AbortController();
  const lose = (cause?: unknown): void => {
    lost.abort(
      new LeadsyncError('run.lease-lost', 'another process works on this connection now', {
        retry: 'later',
        cause,
      }),
    );
  };
  session.on('error', lose);
  let isRenewing = false;
  // A long transaction of ours holds the row fast: a renewal waits for its end, and no second one joins it.
  const renew = (): void => {
    if (isRenewing) return;
    isRenewing = true;
    session
      .query(`update leases set expires_at = now() + $3 * interval '1 ms' where name = $1 and token = $2`, [
        name,
        token,
        leaseMs,
      ])
      .then(({ rowCount }) => {
        isRenewing = false;
        if (rowCount === 0) lose();
      }, lose);
  };
  const renewal = setInterval(renew, leaseMs / 3);
  renewal.unref();

  return {
    lost: lost.signal,
    async assertHeld(db) {
      lost.signal.throwIfAborted();
      const { rowCount } = await db.query(
        `select from leases where name = $1 and token = $2 and expires_at > now() for share`,
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
      await session.query(`delete from leases where name = $1 and token = $2`, [name, token]).then(
        () => session.release(),
        () => session.release(true),
      );
    },
  };
}

/** Who holds the lease of that name now, or null. */
export async function leaseHolder(pool: pg.Pool, name: string): Promise<string | null> {
  const { rows } = await pool.query<{ holder: string }>(
    `select holder from leases where name = $1 and expires_at > now() and exists (
       select from pg_stat_activity a where a.pid = leases.backend_pid and a.backend_start = leases.backend_start)`,
    [name],
  );
  return rows[0]?.holder ?? null;
}
