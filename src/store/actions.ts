import type { Cells } from '../core/lead/value.ts';
import {
  type ActionKind,
  type Changes,
  fingerprint,
  type PlannedAction,
  silentKinds,
} from '../core/merge/action.ts';
import type pg from 'pg';
import { batchesBySize, charactersIn } from '../core/lead/text-size.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { mostWhole } from '../lib/memory.ts';
import { countOf, type Queryable, rowsOf, streamRows } from './database.ts';
import type { VerificationResult } from './verifications.ts';
import type { RoundRef } from './runs.ts';

/** `left-out`: no line of the reviewed plan that the run carries out. */
export const actionStates = ['planned', 'left-out', 'proven', 'done', 'deferred', 'held'] as const;
export type ActionState = (typeof actionStates)[number];

export interface Action extends PlannedAction {
  readonly id: number;
  readonly state: ActionState;
  readonly attempts: number;
  readonly intentId: number | null;
  /** Its create was begun, and may have been carried out. */
  readonly isBegun: boolean;
  /** By which a reviewed line is recognised; see `fingerprint`. */
  readonly fingerprint: string;
}

/** An action to store; `intentId` ties a link to the create that it finishes, `outcome`: its outcome, when it has one. */
export interface NewAction extends PlannedAction {
  readonly intentId?: number;
  readonly state?: ActionState;
  readonly outcome?: {
    readonly code?: string;
    readonly message?: string;
    readonly verification?: VerificationResult | undefined;
  };
  /** The reviewed line that it carries out: the run of its plan, and its id there. */
  readonly planId?: number;
  readonly planLine?: string;
}

const actionColumns = `id, kind, lead_id as "leadId", row_number as row, content_hash as "contentHash", changes, expect, reason,
  message, state, attempts, intent_id as "intentId", fingerprint, coalesce(intent <> 'abandoned', false) as "isBegun"`;

export async function insertActions(
  db: Queryable,
  run: RoundRef,
  actions: readonly NewAction[],
): Promise<void> {
  if (actions.length === 0) return;
  const rows = actions.map((action) => ({
    ...action,
    changes: JSON.stringify(action.changes),
    expect: JSON.stringify(action.expect),
    fingerprint: fingerprint(action),
    state: action.state ?? 'planned',
    outcomeCode: action.outcome?.code,
    outcomeMessage: action.outcome?.message,
    receipt: action.outcome?.verification,
  }));
  await db.query(
    // One text: arrays of texts take several times as long to write and to read, objects within it a fourth longer.
    `insert into actions (run_id, round, kind, lead_id, row_number, content_hash, changes, expect, reason, message, intent_id,
       fingerprint, state, plan_id, plan_line, outcome_code, outcome_message, receipt, done_at)
     select $1, $2, kind, "leadId", "row", "contentHash", changes::json, expect::jsonb, reason, message, "intentId",
       fingerprint, state, "planId", "planLine", "outcomeCode", "outcomeMessage", receipt,
       case when state in ('done', 'deferred', 'held') then now() end
     from json_to_recordset($3::json) as a (kind text, "leadId" text, "row" bigint, "contentHash" text, changes text,
       expect text, reason text, message text, "intentId" bigint, fingerprint text, state text, "planId" bigint,
       "planLine" text, "outcomeCode" text, "outcomeMessage" text, receipt text)`,
    [run.id, run.round, JSON.stringify(rows)],
  );
}

/** Drops the plan of a round, so that it can be made anew. */
export async function clearActions(db: Queryable, run: RoundRef): Promise<void> {
  await db.query(`delete from actions where run_id = $1 and round = $2`, [run.id, run.round]);
}

const isOpen = `body is null and state in ('planned', 'proven')`;

/**
 * The actions of these kinds that are still to be done, oldest first, at most `most` together and as many as fit into memory: each
 * batch is loaded while the one before is used. Without those that make many rows.
 */
export async function* openActions(
  db: Queryable,
  run: RoundRef,
  kinds: readonly ActionKind[],
  most = 1_000,
): AsyncGenerator<readonly Action[]> {
  const sizes = await rowsOf<{ readonly id: number; readonly size: number }>(
    db,
    `select id, octet_length(changes::text) + octet_length(expect::text) as size from actions
     where run_id = $1 and round = $2 and kind = any($3) and ${isOpen} order by id`,
    [run.id, run.round, kinds],
  );
  const load = `select ${actionColumns} from actions where id = any($1) and ${isOpen} order by id`;
  let next: Promise<readonly Action[]> | null = null;
  for (const batch of batchesBySize(
    sizes,
    () => most,
    ({ size }) => size,
  )) {
    const before: typeof next = next;
    next = rowsOf(db, load, [batch.map(({ id }) => id)]);
    // What is done with the one before may fail first.
    next.catch(() => {});
    if (before !== null) yield await before;
  }
  if (next !== null) yield await next;
}

/** All actions that are part of the plan which people see; of an undo also what it leaves alone. Throws `plan.too-large`. */
export async function visibleActions(
  pool: pg.Pool,
  run: RoundRef & { readonly undoOf: number | null },
): Promise<readonly Action[]> {
  const actions: Action[] = [];
  let size = 0;
  for await (const action of streamRows<Action>(
    pool,
    `select ${actionColumns} from actions where run_id = $1 and round = $2 and kind <> all($3) order by id`,
    [run.id, run.round, run.undoOf === null ? silentKinds : []],
  )) {
    size += bytesOfCharacter * charactersIn(action);
    if (size > mostWhole) throw tooLarge(actions.length);
    actions.push(action);
  }
  return actions;
}

/** Of a text that is not Latin. */
const bytesOfCharacter = 2;

function tooLarge(actions: number): LeadsyncError {
  const memory = `${Math.round(mostWhole / 1024 ** 2)} MiB`;
  return new LeadsyncError(
    'plan.too-large',
    `the plan cannot be shown: after ${actions} actions its texts fill the ${memory} of memory that there is for it. Nothing was changed`,
    {
      help: 'Give leadsync more memory (docs/containers.md). A sync needs no more: it never holds its whole plan.',
    },
  );
}

export interface ActionOutcome {
  readonly actionId: number;
  readonly state: Exclude<ActionState, 'planned'>;
  readonly code?: string;
  readonly message?: string;
  /** True: the reply to the write shows all that the write was to do, and more: see `acceptReplies`. */
  readonly isShown?: boolean;
}

/** Counts an attempt before the write is sent, since its reply may be lost; or (-1) uncounts one, for which nothing was sent. */
export async function countAttempts(
  db: Queryable,
  actions: readonly Pick<Action, 'id'>[],
  by: 1 | -1 = 1,
): Promise<void> {
  const text = `update actions set attempts = attempts + $2 where id = any($1) and state in ('planned', 'proven')`;
  if (actions.length > 0) await db.query(text, [actions.map(({ id }) => id), by]);
}

export async function recordOutcomes(db: Queryable, outcomes: readonly ActionOutcome[]): Promise<void> {
  // Nearly all of a large run: done, and nothing to say of it.
  const isPlain = ({ state, code, message, isShown = false }: ActionOutcome): boolean =>
    state === 'done' && code === undefined && message === undefined && !isShown;
  const plain = outcomes.filter(isPlain).map(({ actionId }) => actionId);
  if (plain.length > 0)
    await db.query(
      `update actions set state = 'done', outcome_code = null, outcome_message = null, done_at = now() where id = any($1)`,
      [plain],
    );
  if (plain.length < outcomes.length)
    await db.query(
      `update actions a set state = o.state, outcome_code = o.code, outcome_message = o.message, shown = o."isShown", done_at = now()
       from json_to_recordset($1::json) as o ("actionId" bigint, state text, code text, message text, "isShown" bool) where a.id = o."actionId"`,
      [JSON.stringify(outcomes.filter((outcome) => !isPlain(outcome)))],
    );
}

export interface ActionCount {
  readonly kind: ActionKind;
  readonly state: ActionState;
  readonly reason: string;
  readonly round: number;
  readonly count: number;
}

/** How many actions a run has, by kind, state, reason and round; a mark that had no column to go to is none. */
export function countActions(db: Queryable, runId: number): Promise<readonly ActionCount[]> {
  return rowsOf(
    db,
    `select kind, state, reason, round, sum(leads)::int as count from actions
     where run_id = $1 and leads > 0 and (state <> 'done' or outcome_code is distinct from 'target.no-status-column') group by 1, 2, 3, 4`,
    [runId],
  );
}

/** Actions that were put off, and reports, for the problems of a run. */
export function troubledActions(
  db: Queryable,
  run: RoundRef,
  limit: number,
): Promise<
  readonly { code: string; message: string; leadId: string | null; row: number | null; fields: string[] }[]
> {
  return rowsOf(
    db,
    `select coalesce(outcome_code, reason) as code, coalesce(outcome_message, message, reason) as message,
       lead_id as "leadId", row_number as row, array(select json_object_keys(changes)) as fields
     from actions where run_id = $1 and round = $2 and (state = 'deferred' or kind = 'report') order by id limit $3`,
    [run.id, run.round, limit],
  );
}

export function writtenCells(changes: Changes): Cells {
  return Object.fromEntries(Object.entries(changes).map(([field, change]) => [field, change.to]));
}

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
