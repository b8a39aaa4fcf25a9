import type pg from 'pg';

/**
 * Lets only one transaction at a time plan the reminders and digests of a connection, so that none plans from what
 * another has overtaken. Returns the time of the database (epoch ms), by which all processes go.
 */
export async function beginPlanning(client: pg.PoolClient, connection: string): Promise<number> {
  await client.query(`select pg_advisory_xact_lock(hashtextextended('reminders/' || $1, 0))`, [connection]);
  const { rows } = await client.query<{ now: number }>(
    `select floor(extract(epoch from now()) * 1000)::float8 as now`,
  );
  return rows[0]?.now ?? Date.now();
}
