import type { ActionKind } from '../core/merge/action.ts';
import { columnOf, mapOf, type Queryable, rowsOf, valueOf } from './database.ts';
import { newRowsOf } from './new-rows.ts';
import { connectionOf } from './places.ts';
import type { Approval, Run, RunRef } from './runs.ts';

/** The fingerprint of a line whose text was edited: it never matches. */
export const editedByHand = 'edited-by-hand';

/** What a run may carry out; null: all that it plans. Of an approval without its lines: nothing. */
export async function approvalOf(
  db: Queryable,
  { id, approval }: Pick<Run, 'id' | 'approval'>,
): Promise<Approval | null> {
  if (approval === null) return null;
  const approved = await valueOf<Approval>(db, `select approved from runs where id = $1`, [id]);
  return approved ?? { planId: 0, lines: [] };
}

/** A create that was begun may have been carried out. */
const isBegun = `(a.state = 'done' or a.intent <> 'abandoned')`;

/** The last run except $1 that did the same as line `p` to this record since the plan was made, for another reason. */
const doneTo = (
  record: string,
): string => `(select max(a.run_id) from actions a join runs r on r.id = a.run_id
   where ${record} and a.fingerprint = p.fingerprint and a.state = 'done' and a.kind = p.kind
     and a.run_id > $3 and a.run_id <> $1 and r.connection = $2
     and a.plan_id is distinct from $3)`;

/**
 * By line the last run except this one that carried it out, or that since the plan was made did the same to the same record, as
 * a sync or for another plan. The line of a create has no id: its fingerprint identifies it.
 */
export function linesDoneBefore(
  db: Queryable,
  run: RunRef,
  { planId, lines }: Approval,
): Promise<ReadonlyMap<string, number>> {
  return mapOf(
    db,
    `select p.id as key, done.run as value from json_to_recordset($4::json) as p (id text, kind text, "leadId" text, fingerprint text)
     left join (
       select l.lead_id, max(l.run_id) as run from ${newRowsOf(`run_id <> $1 and run_id > $3 and state = 'done' and $5
         and run_id in (select id from runs where connection = $2)`)} l group by 1) made
       on p.kind = 'create-row' and made.lead_id = p."leadId"
     cross join lateral (select greatest(
       (select max(a.run_id) from actions a
        where a.plan_id = $3 and a.plan_line = p.id and a.fingerprint = p.fingerprint and a.run_id <> $1 and ${isBegun}),
       ${doneTo(`a.lead_id = p."leadId"`)}, ${doneTo(`a.kind = 'create-lead'`)}, made.run) as run offset 0) done
     where done.run is not null`,
    [
      run.id,
      connectionOf(run.connection),
      planId,
      JSON.stringify(lines),
      lines.some(({ kind }) => kind === 'create-row'),
    ],
  );
}

/** The creates that a run has begun: the links that finish them belong to the lines that were approved. */
export function intentsOfRun(db: Queryable, runId: number): Promise<readonly number[]> {
  return columnOf(db, `select id from actions where run_id = $1 and intent is not null`, [runId]);
}

/** What a run planned to carry out an approved line. */
export interface LineOfRun {
  readonly line: string;
  readonly round: number;
  readonly isBegun: boolean;
  /** Of a create: its lead is known. */
  readonly isDone: boolean;
}

export function linesOfRun(db: Queryable, runId: number): Promise<readonly LineOfRun[]> {
  return rowsOf(
    db,
    `select plan_line as line, round, coalesce(${isBegun}, false) as "isBegun",
       coalesce(a.state = 'done' or a.intent in ('created', 'linked'), false) as "isDone"
     from actions a where run_id = $1 and plan_line is not null`,
    [runId],
  );
}

/** By lead what would be done to it now, and is no approved line. */
export function leftOut(db: Queryable, runId: number): Promise<ReadonlyMap<string, ActionKind>> {
  return mapOf(
    db,
    `select lead_id as key, min(kind) as value from actions
     where run_id = $1 and round = 1 and state = 'left-out' and lead_id is not null group by 1`,
    [runId],
  );
}
