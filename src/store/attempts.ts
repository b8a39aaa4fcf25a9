import { type ActionKind, plannedAction } from '../core/merge/action.ts';
import { HeldConflicts } from '../core/merge/held-conflicts.ts';
import { type Action, actionColumns, openActions, recordOutcomes } from './actions.ts';
import { recordConflicts } from './conflicts.ts';
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

/** Holds every action of a kind that is still to be done: the key lacks the permission. */
export async function holdRemaining(
  db: Queryable,
  run: RunRef & RoundRef,
  kind: ActionKind,
  { code, message }: { readonly code: string; readonly message: string },
): Promise<void> {
  const held = new HeldConflicts();
  for await (const open of openActions(db, run, [kind])) {
    const refused = open.filter(({ state }) => state === 'planned');
    await recordOutcomes(
      db,
      refused.map(({ id }) => ({ actionId: id, state: 'held', code, message })),
    );
    const items = refused.flatMap(({ leadId, row, contentHash, expect }) =>
      held.of(plannedAction(kind, { leadId, row, contentHash, reason: code, message }), [
        expect['companyName'],
      ]),
    );
    await recordConflicts(db, run, items);
  }
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
