import type pg from 'pg';
import { seenNothing } from './follow-ups.ts';
import { epochMs, firstOf, oneOf } from './database.ts';

/** Stands for all connections, whose digests are planned together: no connection has this name. */
export const everyConnection = '*';

/**
 * Lets only one transaction at a time plan the reminders of a connection, or the digests of all (`everyConnection`), so that
 * none plans from what another has overtaken. Returns the time of the database (epoch ms), by which all processes go.
 */
export async function beginPlanning(client: pg.PoolClient, connection: string): Promise<number> {
  await client.query(`select pg_advisory_xact_lock(hashtextextended('reminders/' || $1, 0))`, [connection]);
  return (await oneOf<{ now: number }>(client, `select floor(${epochMs('now()')}) as now`)).now;
}

/**
 * The run that the reminders of a connection are planned after; with the `rules` (a hash of them) it decides what is
 * planned. `isPlanned`: they were planned after it by the same rules. No run of requested edits: it moves no baseline. Null while a run is under way, before the first one,
 * and when leads are to be planned again in any case.
 */
export function planningBasis(
  db: pg.Pool,
  connection: string,
  rules: string,
): Promise<{ readonly run: number; readonly isPlanned: boolean } | null> {
  return firstOf(
    db,
    `select r.id as run, coalesce(c.planned_run = r.id and c.planned_rules = $2, false) as "isPlanned"
     from (select id from runs where connection = $1 and mode <> 'edit' order by id desc limit 1) r left join connections c on c.connection = $1
     where not exists (select from runs where connection = $1 and mode <> 'edit' and finished_at is null)
       and not exists (select from follow_ups where connection = $1 and seen = $3)`,
    [connection, rules, seenNothing],
  );
}

/** Notes that all reminders of a connection are planned after a run (see `planningBasis`) by `rules`. */
export async function notePlanned(
  db: pg.Pool,
  connection: string,
  run: number,
  rules: string,
): Promise<void> {
  await db.query(
    `insert into connections (connection, planned_run, planned_rules) values ($1, $2, $3)
     on conflict (connection) do update set planned_run = excluded.planned_run, planned_rules = excluded.planned_rules`,
    [connection, run, rules],
  );
}
