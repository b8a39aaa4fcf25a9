import { randomUUID } from 'node:crypto';
import type { ActionKind } from '../core/merge/action.ts';
import { columnOf, countOf, type Queryable, rowsOf } from './database.ts';

/** The fingerprint of a line whose text was edited: it never matches. */
export const editedByHand = 'edited-by-hand';

/** A line of a reviewed plan that is to be carried out. */
export interface ApprovedLine {
  /** Its id in the plan. */
  readonly id: string;
  readonly kind: ActionKind;
  readonly leadId: string | null;
  readonly row: number | null;
  readonly fingerprint: string;
}

/** Stores the lines that a run may carry out; returns the batch by which a job names them. */
export async function approve(
  db: Queryable,
  connection: string,
  planId: number,
  lines: readonly ApprovedLine[],
): Promise<string> {
  const batch = randomUUID();
  await db.query(
    `insert into approvals (batch, connection, plan_id, line, fingerprint, kind, lead_id, row_number)
     select $1, $2, $3, *
     from json_to_recordset($4::json) as l (id text, fingerprint text, kind text, "leadId" text, "row" bigint)`,
    [batch, connection, planId, JSON.stringify(lines)],
  );
  return batch;
}

interface ApprovedRun {
  readonly id: number;
  readonly round: number;
  readonly connection: string;
  readonly approval: string;
}

/** Action `a` carries out line `p`. */
const isOfLine = `a.plan_id = p.plan_id and a.plan_line = p.line`;

/** A create that was begun may have been carried out. */
const isBegun = `(a.state = 'done' or a.intent <> 'abandoned')`;

/** The last run except $1 that did the same as line `p` to this record since the plan was made, for another reason. */
const doneTo = (
  record: string,
): string => `(select max(a.run_id) from actions a join runs r on r.id = a.run_id
   where ${record} and a.fingerprint = p.fingerprint and a.state = 'done' and a.kind = p.kind
     and a.run_id > p.plan_id and a.run_id <> $1 and r.connection = $2
     and a.plan_id is distinct from p.plan_id)`;

/**
 * The last run except $1 that carried out line `p`, or that since the plan was made did the same to the same record, as a
 * sync or for another plan. The line of a create has no id: its fingerprint identifies it.
 */
const doneBy = `greatest(
  (select max(a.run_id) from actions a
   where ${isOfLine} and a.fingerprint = p.fingerprint and a.run_id <> $1 and ${isBegun}),
  ${doneTo(`a.lead_id = p.lead_id`)}, ${doneTo(`a.kind = 'create-lead'`)}, made.run)`;

/** As `made.run`, the last run except $1 that created the row of line `p` in a batch since the plan was made. */
const madeWithOthers = `left join (
  select l.lead_id, max(l.run_id) as run from new_row_lines l join runs r on r.id = l.run_id
  where r.connection = $2 and l.run_id <> $1 and l.state = 'done'
    and l.run_id > (select min(plan_id) from approvals where batch = $3 and kind = 'create-row') group by 1) made
  on p.kind = 'create-row' and made.lead_id = p.lead_id and made.run > p.plan_id`;

/**
 * The approved lines that are still to do: each is carried out at most once. Without those that another run, or an earlier
 * round of this one, carried out or, for a create, began.
 */
export function openLines(
  db: Queryable,
  run: ApprovedRun,
): Promise<readonly (ApprovedLine & { readonly planId: number })[]> {
  return rowsOf(
    db,
    `select p.line as id, p.kind, p.lead_id as "leadId", p.row_number as row, p.fingerprint, p.plan_id as "planId"
     from approvals p ${madeWithOthers} where p.batch = $3 and ${doneBy} is null
       and not exists (select from actions a where ${isOfLine} and a.run_id = $1 and a.round < $4 and ${isBegun})
     order by p.line`,
    [run.id, run.connection, run.approval, run.round],
  );
}

/** The creates that a run has begun: the links that finish them belong to the lines that were approved. */
export async function intentsOfRun(db: Queryable, runId: number): Promise<ReadonlySet<number>> {
  const text = `select id from actions where run_id = $1 and intent is not null`;
  return new Set(await columnOf<number>(db, text, [runId]));
}

/** An approved line that was not carried out, because the plan does not hold it any more. */
export interface StaleLine extends ApprovedLine {
  /** The run that carried it out after the plan was made. */
  readonly doneBy: number | null;
  /** What would be done to the same record now, when that is something else. */
  readonly instead: ActionKind | null;
}

/** The approved lines for which the run had no action. */
export function staleLines(db: Queryable, run: Omit<ApprovedRun, 'round'>): Promise<readonly StaleLine[]> {
  return rowsOf(
    db,
    `select p.line as id, p.kind, p.lead_id as "leadId", p.row_number as row, p.fingerprint, ${doneBy} as "doneBy",
       i.kind as instead
     from approvals p ${madeWithOthers}
     left join (select lead_id, min(kind) as kind from actions where run_id = $1 and round = 1 and state = 'left-out'
                group by 1) i on i.lead_id = p.lead_id
     where p.batch = $3 and not exists (select from actions a where a.run_id = $1 and ${isOfLine})
     order by p.line`,
    [run.id, run.connection, run.approval],
  );
}

/** How many lines of a batch the run has carried out; a create only when its lead is known. */
export function countDoneLines(
  db: Queryable,
  { id, approval }: { readonly id: number; readonly approval: string },
): Promise<number> {
  return countOf(
    db,
    `from approvals p where p.batch = $2 and exists (
       select from actions a where a.run_id = $1 and ${isOfLine} and (a.state = 'done' or a.intent in ('created', 'linked')))`,
    [id, approval],
  );
}

/** How many lines a batch has. */
export function countApproved(db: Queryable, batch: string): Promise<number> {
  return countOf(db, `from approvals where batch = $1`, [batch]);
}
