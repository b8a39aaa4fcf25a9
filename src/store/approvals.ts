import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { ActionKind } from '../merge/action.ts';
import type { RunStatus } from './runs.ts';

type Queryable = pg.Pool | pg.PoolClient;

/** The precondition of a line whose text is not the one that was written: it can never hold. */
export const editedByHand = 'edited-by-hand';

/** A line of a reviewed plan that is to be carried out. */
export interface ApprovedLine {
  /** Its id in the plan. */
  readonly id: string;
  readonly kind: ActionKind;
  readonly leadId: string | null;
  readonly row: number | null;
  readonly precondition: string;
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
    `insert into approvals (batch, connection, plan_id, line, precondition, kind, lead_id, row_number)
     select $1, $2, $3, * from unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::int[])`,
    [
      batch,
      connection,
      planId,
      lines.map((line) => line.id),
      lines.map((line) => line.precondition),
      lines.map((line) => line.kind),
      lines.map((line) => line.leadId),
      lines.map((line) => line.row),
    ],
  );
  return batch;
}

interface ApprovedRun {
  readonly id: number;
  readonly round: number;
  readonly approval: string;
}

/**
 * The approved lines that are still to be carried out: less those that an earlier round of the run has carried out, or
 * has begun when it is a create.
 */
export async function openLines(db: Queryable, run: ApprovedRun): Promise<readonly ApprovedLine[]> {
  const { rows } = await db.query<ApprovedLine>(
    `select p.line as id, p.kind, p.lead_id as "leadId", p.row_number as row, p.precondition
     from (select *, row_number() over (partition by precondition order by line) as nth from approvals where batch = $3) p
     left join (select precondition, count(*) as lines from actions a where run_id = $1 and round < $2
                  and (state = 'done' or exists (select from intents i where i.action_id = a.id and i.state <> 'abandoned'))
                group by 1) d using (precondition)
     where p.nth > coalesce(d.lines, 0) order by p.line`,
    [run.id, run.round, run.approval],
  );
  return rows;
}

/** The creates that a run has begun: the links that finish them belong to the lines that were approved. */
export async function intentsOfRun(db: Queryable, runId: number): Promise<ReadonlySet<number>> {
  const { rows } = await db.query<{ id: number }>(
    `select i.id from intents i join actions a on a.id = i.action_id where a.run_id = $1`,
    [runId],
  );
  return new Set(rows.map(({ id }) => id));
}

/** An approved line that was not carried out, because the plan does not hold it any more. */
export interface StaleLine {
  readonly id: string;
  readonly kind: ActionKind;
  readonly leadId: string | null;
  readonly row: number | null;
  readonly precondition: string;
  /** The run that has carried it out already, after the plan was made. */
  readonly doneBy: number | null;
  /** What would be done to the same record now, when that is something else. */
  readonly instead: ActionKind | null;
}

/** The approved lines for which the run had no action. */
export async function staleLines(
  db: Queryable,
  run: { readonly id: number; readonly connection: string; readonly approval: string },
): Promise<readonly StaleLine[]> {
  const { rows } = await db.query<StaleLine>(
    `select p.line as id, p.kind, p.lead_id as "leadId", p.row_number as row, p.precondition,
       (select max(a.run_id) from actions a join runs r on r.id = a.run_id
        where a.precondition = p.precondition and a.state = 'done' and a.run_id > p.plan_id and a.run_id <> $1
          and r.connection = $2) as "doneBy",
       i.kind as instead
     from (select *, row_number() over (partition by precondition order by line) as nth from approvals where batch = $3) p
     left join (select precondition, count(*) as lines from actions where run_id = $1 and round = 1 and state <> 'left-out'
                group by 1) h using (precondition)
     left join (select lead_id, min(kind) as kind from actions where run_id = $1 and round = 1 and state = 'left-out'
                group by 1) i using (lead_id)
     where p.nth > coalesce(h.lines, 0)
     order by p.line`,
    [run.id, run.connection, run.approval],
  );
  return rows;
}

/** How many lines a batch has. */
export async function countApproved(db: Queryable, batch: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from approvals where batch = $1`,
    [batch],
  );
  return rows[0]?.count ?? 0;
}

/** The finished run that carried out a batch, or null. */
export async function runOfBatch(
  db: Queryable,
  batch: string,
): Promise<{ readonly id: number; readonly status: RunStatus } | null> {
  const { rows } = await db.query<{ id: number; status: RunStatus }>(
    `select id, status from runs where approval = $1 and finished_at is not null order by id desc limit 1`,
    [batch],
  );
  return rows[0] ?? null;
}
