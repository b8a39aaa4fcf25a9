import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { ActionKind } from '../merge/action.ts';

type Queryable = pg.Pool | pg.PoolClient;

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
 * Leaves out every action of the round that is no approved line. Of several alike as many stay as were approved, less
 * those that an earlier round has carried out. The link that finishes a create of this run always stays.
 */
export async function leaveOutUnapproved(db: Queryable, run: ApprovedRun): Promise<void> {
  await db.query(
    `update actions set state = 'left-out' where id in (
       select c.id from (
         select id, kind, intent_id, precondition, row_number() over (partition by precondition order by id) as nth
         from actions where run_id = $1 and round = $2 and kind not in ('hold', 'report')) c
       left join (select precondition, count(*) as lines from approvals where batch = $3 group by 1) a using (precondition)
       left join (select precondition, count(*) as lines from actions where run_id = $1 and round < $2 and state = 'done'
                  group by 1) d using (precondition)
       where c.nth > coalesce(a.lines, 0) - coalesce(d.lines, 0)
         and not (c.kind = 'link' and exists (
           select from intents i join actions made on made.id = i.action_id where i.id = c.intent_id and made.run_id = $1)))`,
    [run.id, run.round, run.approval],
  );
}

/** An approved line that was not carried out, because the plan does not hold it any more. */
export interface StaleLine {
  readonly id: string;
  readonly kind: ActionKind;
  readonly leadId: string | null;
  readonly row: number | null;
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
    `select p.line as id, p.kind, p.lead_id as "leadId", p.row_number as row,
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
