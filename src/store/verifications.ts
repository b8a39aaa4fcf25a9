import type { Cell, Value } from '../core/lead/value.ts';
import { type ActionKind, type Changes, rowKinds } from '../core/merge/action.ts';
import type { Act, HeldRecord } from '../core/merge/count-outcomes.ts';
import { countOf, oneOf, type Queryable, rowsOf, valueOf } from './database.ts';
import { history } from './history.ts';
import type { RoundRef, RunRef } from './runs.ts';

/**
 * What reading it again showed. `changed`: neither what was there before nor what was written, so a person edited it
 * since, or the side stored something else. `unexplained`: what was there before, or nothing at all.
 */
export type VerificationResult = 'equal' | 'changed' | 'unexplained';

/** One thing that a run wrote, by field: what was there before and what was written. */
export interface Written {
  readonly actionId: number;
  readonly kind: ActionKind;
  readonly reason: string;
  readonly leadId: string;
  /** `base`: what both sides last agreed on before; absent when they never had. */
  readonly fields: Readonly<
    Record<string, { readonly before: Cell; readonly after: Cell; readonly base?: Value | undefined }>
  >;
}

/**
 * The next leads that the round wrote whose replies did not verify the write, and that were not verified by a read yet. Fields
 * come from the history, as the service stored them; those of a new lead from what was sent.
 */
export function leadsToRead(
  db: Queryable,
  run: RunRef & RoundRef,
  after: number,
  limit: number,
): Promise<readonly Written[]> {
  return rowsOf(
    db,
    `select a.id as "actionId", a.kind, a.reason, a.lead_id as "leadId", coalesce(h.fields, '{}') as fields
     from actions a
     left join lateral (
       select jsonb_object_agg(field, case when base is null then '{}' else jsonb_build_object('base', base) end
         || jsonb_build_object('before', before, 'after', after)) as fields
       from (select distinct on (field) field, base, before, after from ${history} h
             where connection = $5 and lead_id = a.lead_id and run_id = $1 and side = 'lead' order by field, id desc) last) h
       on a.kind = 'update-lead'
     where a.run_id = $1 and a.round = $2 and a.state = 'done' and a.kind in ('update-lead', 'create-lead', 'delete-lead')
       and (a.receipt is null and a.shown is not true or a.receipt = 'unexplained') and a.id > $3
       and a.lead_id is not null
     order by a.id limit $4`,
    [run.id, run.round, after, limit, run.connection],
  );
}

/**
 * Accepts the replies to the round's PATCHes as verification unless a lead that was read differs from what was written. False:
 * all have to be read.
 */
export async function acceptReplies(db: Queryable, run: RoundRef): Promise<boolean> {
  const isTrue = await valueOf<boolean>(
    db,
    `with others as (select not exists (select from actions where run_id = $1 and round = $2 and kind = 'update-lead'
         and receipt in ('changed', 'unexplained')) as are_equal),
       shown as (update actions set receipt = case when are_equal then 'equal' end, shown = are_equal from others
         where run_id = $1 and round = $2 and shown and state = 'done' and receipt is null returning 1)
     select are_equal or not exists (select from shown) from others`,
    [run.id, run.round],
  );
  return isTrue ?? true;
}

/** SQL: an action that wrote to one row in round $2 of run $1; $3: `rowKinds`. */
const writtenToRow = `run_id = $1 and round = $2 and state = 'done' and kind = any($3) and body is null`;

/**
 * Prepares a read of the rows whose writes in this round are not verified yet. Returns the number of these writes, and the
 * first and the last of their ids.
 */
export async function rowsToRead(
  db: Queryable,
  run: RoundRef,
): Promise<{ readonly count: number; readonly first: number; readonly last: number }> {
  const parameters = [run.id, run.round, rowKinds];
  await db.query(
    `update actions set receipt = null where ${writtenToRow} and receipt <> 'equal'`,
    parameters,
  );
  return oneOf(
    db,
    `select count(*)::int as count, coalesce(min(id), 0) as first, coalesce(max(id), 0) as last
     from actions where ${writtenToRow} and receipt is null`,
    parameters,
  );
}

/** What was written into a row, and where that stood when it was noted last; null: not at all. */
export interface WrittenRow extends Written {
  readonly notedRow: number | null;
}

/** What the round wrote into the rows of these leads and was not seen yet; of a field that was written twice the last. */
export async function rowsWritten(
  db: Queryable,
  run: RunRef & RoundRef,
  leadIds: readonly string[],
): Promise<readonly WrittenRow[]> {
  const rows = await rowsOf<Omit<WrittenRow, 'fields'> & { changes: Changes }>(
    db,
    // Each lead looked up by its own: Postgres would rather go through all that the run wrote, for each batch of leads.
    `select a.id as "actionId", a.kind, a.reason, a.lead_id as "leadId", a.changes,
       (select row_number from pairs where connection = $5 and lead_id = a.lead_id) as "notedRow"
     from unnest($4::text[]) as l (lead_id)
     cross join lateral (select * from actions where lead_id = l.lead_id offset 0) a
     where a.run_id = $1 and a.round = $2 and a.state = 'done' and a.receipt is null and a.kind = any($3)
     order by a.id desc`,
    [run.id, run.round, rowKinds, leadIds, run.connection],
  );
  const written = new Map<string, Set<string>>();
  return rows.map(({ changes, ...rest }) => {
    const later = written.get(rest.leadId) ?? new Set();
    const last = Object.entries(changes).filter(([field]) => !later.has(field));
    written.set(rest.leadId, new Set([...later, ...Object.keys(changes)]));
    return {
      ...rest,
      fields: Object.fromEntries(
        last.map(([field, { from, to, base }]) => [field, { before: from, after: to, base }]),
      ),
    };
  });
}

/** What a look at one record that was written showed. */
export interface Finding extends Omit<Written, 'fields'> {
  readonly result: VerificationResult;
  /** The fields that show what was there before, with their baseline of then. */
  readonly lost: Readonly<Record<string, Value | undefined>>;
  /** Of a lead: see `unmappedHash`. */
  readonly others?: string;
}

export async function storeVerifications(
  db: Queryable,
  findings: readonly Pick<Finding, 'actionId' | 'result'>[],
): Promise<void> {
  if (findings.length === 0) return;
  await db.query(
    `update actions a set receipt = r.result from json_to_recordset($1::json) as r ("actionId" bigint, result text)
     where a.id = r."actionId"`,
    [JSON.stringify(findings.map(({ actionId, result }) => ({ actionId, result })))],
  );
}

/** After the whole target was read: a row that was not met is gone, as it should be when it, or its id, was taken away. */
export async function storeRowsNotMet(db: Queryable, run: RoundRef): Promise<void> {
  await db.query(
    `update actions set receipt = case when kind in ('remove-row', 'unlink') then 'equal' else 'unexplained' end
     where ${writtenToRow} and receipt is null`,
    [run.id, run.round, rowKinds],
  );
}

export function countUnexplained(db: Queryable, run: RoundRef): Promise<number> {
  return countOf(db, `from actions where run_id = $1 and round = $2 and receipt = 'unexplained'`, [
    run.id,
    run.round,
  ]);
}

/** The actions of a round but for its holds, oldest first. */
export function actsOfRound(db: Queryable, run: RoundRef): Promise<readonly Act[]> {
  return rowsOf(
    db,
    `select kind, lead_id as "leadId", row_number as row, content_hash as "contentHash", state, receipt, outcome_code as code,
       case when body is not null then leads end as "newRows"
     from actions where run_id = $1 and round = $2 and kind <> 'hold' order by id`,
    [run.id, run.round],
  );
}

/** What is held; of `lastRun` alone when it is given. */
export function heldRecords(
  db: Queryable,
  connection: string,
  lastRun: number | null,
): Promise<readonly HeldRecord[]> {
  return rowsOf(
    db,
    `select nullif(lead_id, '') as "leadId", row_number as row, content_hash as "contentHash" from held
     where kind = 'conflict' and connection = $1 and ($2::bigint is null or last_run = $2)`,
    [connection, lastRun],
  );
}
