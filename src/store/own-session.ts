import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { codeOf, LeadsyncError } from '../lib/errors.ts';

/** How a server ends what is no part of the protocol: so a pooler refuses settings of a session, or a transaction. */
export const protocolViolation = '08P01';

/**
 * Makes sure that each connection is a session of its own: leases, turns and settings belong to sessions. A pooler in
 * transaction mode deals out the sessions anew with each transaction. Throws `config.database-pooler`.
 */
export async function assertOwnSession(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  try {
    const { rows } = await client.query<{ pid: number; timeout: string }>(
      `select pg_backend_pid() as pid, current_setting('idle_in_transaction_session_timeout') as timeout`,
    );
    // The one setting of `openDatabase` that is hardly ever a default of a user or a database.
    if (rows[0]?.timeout !== '1min')
      throw pooled('does not pass on session settings, or DATABASE_URL sets its own options');
    // A pooler invents the process id that it sends when a connection begins.
    if ('processID' in client && client.processID === rows[0].pid) return;
    if (await isShared(client, pool)) throw pooled('gives each transaction another session');
  } finally {
    client.release();
  }
}

/** Whether what one connection sets is seen by another one, or is gone when the other is busy. */
async function isShared(client: pg.PoolClient, pool: pg.Pool): Promise<boolean> {
  const mark = randomUUID();
  const read = `select current_setting('leadsync.session', true) as mark`;
  await client.query(`set leadsync.session = '${mark}'`);
  const other = await pool.connect();
  try {
    await other.query('begin');
    const seen = await other.query<{ mark: string | null }>(read);
    const kept = await client.query<{ mark: string | null }>(read);
    await other.query('rollback');
    return seen.rows[0]?.mark === mark || kept.rows[0]?.mark !== mark;
  } catch (error) {
    if (codeOf(error) === protocolViolation) return true;
    throw error;
  } finally {
    other.release(true);
  }
}

/** `does`: what leadsync cannot work with. */
export function pooled(does: string, cause?: unknown): LeadsyncError {
  return new LeadsyncError(
    'config.database-pooler',
    `A pooler (PgBouncer or the like) between leadsync and Postgres ${does}. Nothing was done`,
    {
      help: 'Set DATABASE_URL to the address of Postgres itself, which managed databases call direct or session.',
      cause,
    },
  );
}
