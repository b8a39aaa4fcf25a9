import type pg from 'pg';
import type { Queryable } from './database.ts';

/** Stops connections until somebody lets them go on; one that is stopped already keeps its date. */
export async function pauseConnections(db: Queryable, connections: readonly string[]): Promise<void> {
  await db.query(
    `insert into pauses (connection) select * from unnest($1::text[]) on conflict (connection) do nothing`,
    [connections],
  );
}

/** Lets a connection go on. False: it was not stopped. */
export async function unpause(db: pg.Pool, connection: string): Promise<boolean> {
  const { rowCount } = await db.query(`delete from pauses where connection = $1`, [connection]);
  return rowCount === 1;
}

/** Since when (epoch ms) a person has stopped the connection; null: nobody has. */
export async function pausedSince(db: pg.Pool, connection: string): Promise<number | null> {
  const { rows } = await db.query<{ since: Date }>(`select since from pauses where connection = $1`, [
    connection,
  ]);
  return rows[0]?.since.getTime() ?? null;
}
