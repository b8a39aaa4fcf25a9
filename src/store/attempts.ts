import type { ActionKind } from '../core/merge/action.ts';
import { type Action, actionColumns } from './actions.ts';
import { heldAgain } from './decisions.ts';
import { countOf, type Queryable, rowsOf } from './database.ts';
import type { RoundRef, RunRef } from './runs.ts';

/**
 * The next open actions of these kinds, oldest first, and counts an attempt for each. `attempts` of the result: earlier ones.
 */
export async function beginAttempts(
  db: Queryable,
  run: RoundRef,
  kinds: readonly ActionKind[],
  limit: number,
): Promise<readonly Action[]> {
  const actions = await rowsOf<Action>(
    db,
    `with begun as (
       update actions set attempts = attempts + 1 where id in (
         select id from actions where run_id = $1 and round = $2 and kind = any($3) and state = 'planned' order by id limit $4)
       returning ${actionColumns})
     select * from begun order by id`,
    [run.id, run.round, kinds, limit],
  );
  return actions.map((action) => ({ ...action, attempts: action.attempts - 1 }));
}

/** Uncounts an attempt at actions for which nothing was sent. */
export async function takeBackAttempts(db: Queryable, actionIds: readonly number[]): Promise<void> {
  if (actionIds.length === 0) return;
  await db.query(`update actions set attempts = attempts - 1 where id = any($1) and state = 'planned'`, [
    actionIds,
  ]);
}

/** Holds every action of a kind that is still to be done: the key lacks the permission. Rows that are alike as in `recordPlannedConflicts`. */
export async function holdRemaining(
  db: Queryable,
  run: RunRef & RoundRef,
  kind: ActionKind,
  { code, message }: { readonly code: string; readonly message: string },
): Promise<void> {
  await db.query(
    `with refused as (
       update actions set state = 'held', outcome_code = $5, outcome_message = $6, done_at = now()
       where run_id = $1 and round = $2 and kind = $4 and state = 'planned'
       returning id, lead_id, content_hash, row_number)
     insert into held (kind, connection, last_run, last_round, lead_id, content_hash, field, row_number, code, message)
     select 'conflict', $3, $1, $2, coalesce(lead_id, ''),
       content_hash || case when row_number() over alike > 1 then '#' || row_number() over alike else '' end,
       '', row_number, $5, $6 from refused
     window alike as (partition by lead_id, content_hash order by id)
     ${heldAgain} last_run = excluded.last_run,
       last_round = excluded.last_round, code = excluded.code, message = excluded.message`,
    [run.id, run.round, run.connection, kind, code, message],
  );
}

/** How many actions of these kinds were deferred with one of these codes since the last that was done. */
export function putOffInARow(
  db: Queryable,
  run: RoundRef,
  kinds: readonly ActionKind[],
  codes: readonly string[],
): Promise<number> {
  return countOf(
    db,
    `from actions
     where run_id = $1 and round = $2 and kind = any($3) and state = 'deferred' and outcome_code = any($4)
       and id > coalesce((select max(id) from actions where run_id = $1 and round = $2 and kind = any($3)
         and state in ('done', 'held', 'proven')), 0)`,
    [run.id, run.round, kinds, codes],
  );
}

/** Puts off everything of these kinds that is still to be done. */
export async function putOffRemaining(
  db: Queryable,
  run: RoundRef,
  kinds: readonly ActionKind[],
  { code, message }: { readonly code: string; readonly message: string },
): Promise<void> {
  await db.query(
    `update actions set state = 'deferred', outcome_code = $4, outcome_message = $5, done_at = now()
     where run_id = $1 and round = $2 and kind = any($3) and state = 'planned'`,
    [run.id, run.round, kinds, code, message],
  );
}
