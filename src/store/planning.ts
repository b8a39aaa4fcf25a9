import type pg from 'pg';
import { seenNothing } from './follow-ups.ts';

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

/**
 * What the reminders of a connection are planned from, by the newest run and the `rules` (a hash of them): nothing else changes
 * what was agreed on. `isPlanned`: they were planned from the same before. Null while a run is under way, before the first one,
 * and when leads are to be planned again in any case.
 */
export async function planningBasis(
  db: pg.Pool,
  connection: string,
  rules: string,
): Promise<{ readonly seen: string; readonly isPlanned: boolean } | null> {
  const { rows } = await db.query<{ seen: string; isPlanned: boolean }>(
    `select r.id || ' ' || $2 as seen, coalesce(p.seen = r.id || ' ' || $2, false) as "isPlanned"
     from (select id from runs where connection = $1 order by id desc limit 1) r left join planned p on p.connection = $1
     where not exists (select from runs where connection = $1 and finished_at is null)
       and not exists (select from follow_ups where connection = $1 and seen = $3)`,
    [connection, rules, seenNothing],
  );
  return rows[0] ?? null;
}

/** Notes from what (`seen` of `planningBasis`) all reminders of a connection are planned now. */
export async function notePlanned(db: pg.Pool, connection: string, seen: string): Promise<void> {
  await db.query(
    `insert into planned (connection, seen) values ($1, $2) on conflict (connection) do update set seen = excluded.seen`,
    [connection, seen],
  );
}
