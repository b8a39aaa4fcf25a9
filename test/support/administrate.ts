import pg from 'pg';

/** One session for each server, closed when it is not used for a while: a new one costs as much as a copy of the template. */
const pools = new Map<string, pg.Pool>();

/** Runs one statement outside of any transaction, as `create database` wants it. */
export async function administrate(server: string, statement: string): Promise<void> {
  let pool = pools.get(server);
  if (pool === undefined) {
    pool = new pg.Pool({ connectionString: server, max: 1, allowExitOnIdle: true });
    // The next statement makes a new session.
    pool.on('error', () => {});
    pools.set(server, pool);
  }
  await pool.query(statement);
}
