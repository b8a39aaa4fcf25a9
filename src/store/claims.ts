import type pg from 'pg';
import type { ActionKind } from '../merge/action.ts';
import { type Action, actionColumns, type RoundRef } from './actions.ts';
import { isAlive } from './leases.ts';

type Queryable = pg.Pool | pg.PoolClient;

/** Of a row of `actions`: no living process but the holder of the lease `$1` has claimed it. */
const isFree = `(claimed_by is null or claimed_by = $1
  or not exists (select from leases where token = claimed_by and ${isAlive}))`;

/**
 * Claims the next actions of these kinds for the holder of a lease, oldest first, with an id above `after`. What the
 * lease's holder has not settled when the lease ends is free again.
 */
export async function claimActions(
  db: Queryable,
  run: RoundRef,
  kinds: readonly ActionKind[],
  token: string,
  limit: number,
  after: number,
): Promise<readonly Action[]> {
  const { rows } = await db.query<Action>(
    `with claimed as (
       update actions set claimed_by = $1 where id in (
         select id from actions where run_id = $2 and round = $3 and kind = any($4) and state = 'planned' and id > $6
           and ${isFree} order by id limit $5 for update skip locked)
       returning ${actionColumns})
     select * from claimed order by id`,
    [token, run.id, run.round, kinds, limit, after],
  );
  return rows;
}

/** Whether actions of these kinds are still to be done: by others, when this holder finds none to claim. */
export async function isAnyPlanned(
  db: Queryable,
  run: RoundRef,
  kinds: readonly ActionKind[],
): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from actions where run_id = $1 and round = $2 and kind = any($3) and state = 'planned' limit 1`,
    [run.id, run.round, kinds],
  );
  return rowCount === 1;
}

/**
 * Counts an attempt at an action that the lease's holder has claimed, so that one that always fails does not hold up the
 * others. Returns the attempts so far, or null when it is not to be done, or not by him, any more.
 */
export async function countTry(db: Queryable, actionId: number, token: string): Promise<number | null> {
  const { rows } = await db.query<{ tries: number }>(
    `update actions set tries = tries + 1 where id = $1 and claimed_by = $2 and state = 'planned' returning tries`,
    [actionId, token],
  );
  return rows[0]?.tries ?? null;
}

/** Takes back a try of an action of which nothing was sent. */
export async function uncountTry(db: Queryable, actionId: number, token: string): Promise<void> {
  await db.query(
    `update actions set tries = tries - 1 where id = $1 and claimed_by = $2 and state = 'planned'`,
    [actionId, token],
  );
}

/**
 * Holds every action of a kind that is still to be done and that no other process is about to do: the key lacks the
 * permission. Rows that are alike as in `holdPlanned`.
 */
export async function holdRemaining(
  db: Queryable,
  run: RoundRef & { readonly connection: string },
  kind: ActionKind,
  token: string,
  { code, message }: { readonly code: string; readonly message: string },
): Promise<void> {
  await db.query(
    `with refused as (
       update actions set state = 'held', outcome_code = $6, outcome_message = $7, done_at = now()
       where run_id = $2 and round = $3 and kind = $5 and state = 'planned' and ${isFree}
       returning id, lead_id, row_key, row_number)
     insert into held (connection, last_run, last_round, lead_id, row_key, field, row_number, code, message)
     select $4, $2, $3, coalesce(lead_id, ''),
       row_key || case when row_number() over alike > 1 then '#' || row_number() over alike else '' end,
       '', row_number, $6, $7 from refused
     window alike as (partition by lead_id, row_key order by id)
     on conflict (connection, lead_id, row_key, field) do update set last_run = excluded.last_run,
       last_round = excluded.last_round, code = excluded.code, message = excluded.message`,
    [token, run.id, run.round, run.connection, kind, code, message],
  );
}

/** How many actions of these kinds were put off with one of these codes since the last one that was carried out. */
export async function putOffInARow(
  db: Queryable,
  run: RoundRef,
  kinds: readonly ActionKind[],
  codes: readonly string[],
): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from actions
     where run_id = $1 and round = $2 and kind = any($3) and state = 'put-off' and outcome_code = any($4)
       and id > coalesce((select max(id) from actions where run_id = $1 and round = $2 and kind = any($3)
         and state in ('done', 'held', 'proven')), 0)`,
    [run.id, run.round, kinds, codes],
  );
  return rows[0]?.count ?? 0;
}

/** Puts off everything of these kinds that is still to be done and that no other process is about to do. */
export async function putOffRemaining(
  db: Queryable,
  run: RoundRef,
  kinds: readonly ActionKind[],
  token: string,
  { code, message }: { readonly code: string; readonly message: string },
): Promise<void> {
  await db.query(
    `update actions set state = 'put-off', outcome_code = $5, outcome_message = $6, done_at = now()
     where run_id = $2 and round = $3 and kind = any($4) and state = 'planned' and ${isFree}`,
    [token, run.id, run.round, kinds, code, message],
  );
}
