import type { Problem } from '../lib/errors.ts';
import { type ActionKind, type Changes, rowKinds, silentKinds } from '../core/merge/action.ts';
import type { ActionState } from './actions.ts';
import { epochMs, isoMs, type Queryable, rowsOf, valueOf } from './database.ts';
import { afterLines, newRowsOf } from './new-rows.ts';
import type { Phase, Run, RunMode, RunStatus } from './runs.ts';

/** A run in a list, without its report. Times are epoch ms. */
export interface ListedRun {
  readonly id: number;
  readonly mode: RunMode;
  readonly status: RunStatus;
  readonly undoOf: number | null;
  readonly isApplied: boolean;
  /** Of its report the first problem: of a run that was stopped or failed the reason. */
  readonly problem: Problem | null;
  readonly createdAt: number;
  readonly finishedAt: number | null;
  /** What it wrote to both sides, and what it left held; null while it has no report. */
  readonly written: number | null;
  readonly held: number | null;
  /** As `Run.tableReadAt`. */
  readonly tableReadAt: string | null;
}

/** The newest runs of a connection with an id below `before` (null: the newest of all), the newest first. */
export function listRuns(
  db: Queryable,
  connection: string,
  before: number | null,
  limit: number,
): Promise<readonly ListedRun[]> {
  return rowsOf(
    db,
    `select id, mode, status, undo_of as "undoOf", approval is not null as "isApplied",
       report#>'{problems,0}' as problem,
       ${epochMs('created_at')} as "createdAt", ${epochMs('finished_at')} as "finishedAt", (report->>'held')::int as held,
       ${isoMs('table_read_at')} as "tableReadAt",
       (report#>>'{created,leads}')::int + (report#>>'{created,rows}')::int + (report#>>'{updated,leads}')::int
         + (report#>>'{updated,rows}')::int + (report#>>'{deleted,leads}')::int + (report#>>'{deleted,rows}')::int as written
     from runs where connection = $1 and ($2::bigint is null or id < $2) order by id desc limit $3`,
    [connection, before, limit],
  );
}

/** When the last sync ended that was carried out, whole or with something held; epoch ms, or null. */
export function lastSuccessAt(db: Queryable, connection: string): Promise<number | null> {
  return valueOf(
    db,
    `select ${epochMs('finished_at')} as at from runs
     where connection = $1 and mode = 'sync' and status in ('succeeded', 'partial') order by id desc limit 1`,
    [connection],
  );
}

/** How far a run is that is not finished. */
export interface OpenRun {
  readonly id: number;
  readonly connection: string;
  readonly phase: Phase;
  readonly pages: number;
  readonly pulled: number;
  readonly targetRows: number;
  /** Epoch ms; null: it does not wait. */
  readonly pausedAt: number | null;
  /** Leads that the last whole sync read; null: there was none. */
  readonly lastPulled: number | null;
  /** While a side is written: what is to be written to it, and how much of that is settled. */
  readonly writes: { readonly settled: number; readonly all: number } | null;
}

const leadKinds: readonly ActionKind[] = ['create-lead', 'update-lead', 'delete-lead'];

/** The syncs of these connections that are not finished; or their plans. */
export function openSyncs(
  db: Queryable,
  connections: readonly string[],
  mode: RunMode = 'sync',
): Promise<readonly OpenRun[]> {
  return rowsOf(
    db,
    `select id, connection, phase, pages, pulled, target_rows as "targetRows",
       ${epochMs('paused_at')} as "pausedAt",
       (select l.pulled from runs l where l.connection = r.connection and l.mode = 'sync' and l.undo_of is null
         and l.status in ('succeeded', 'partial') order by l.id desc limit 1) as "lastPulled",
       case when phase in ('push-leads', 'push-rows') then (
         select json_build_object('settled', coalesce(sum(leads) filter (where state not in ('planned', 'proven')), 0), 'all', coalesce(sum(leads), 0))
         from actions a where a.run_id = r.id and a.round = r.round
           and a.kind = any(case phase when 'push-leads' then $2::text[] else $3::text[] end)) end as writes
     from runs r where connection = any($1) and mode = $4 and finished_at is null order by connection`,
    [connections, leadKinds, rowKinds, mode],
  );
}

/** By connection the newest sync that has ended, of whatever kind; a connection without one is left out. */
export async function endedSyncs(
  db: Queryable,
  connections: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const ended = await rowsOf<{ readonly connection: string; readonly id: number }>(
    db,
    `select c.connection, r.id from unnest($1::text[]) c (connection)
     cross join lateral (select id from runs where connection = c.connection and mode = 'sync' and finished_at is not null
       order by id desc limit 1) r`,
    [connections],
  );
  return new Map(ended.map(({ connection, id }) => [connection, id]));
}

export interface ListedAction {
  readonly id: number;
  readonly kind: ActionKind;
  readonly leadId: string | null;
  readonly row: number | null;
  readonly changes: Changes;
  readonly reason: string;
  readonly state: ActionState;
  /** Why it was put off or held; else what the plan said of it. */
  readonly message: string | null;
}

/**
 * What a run did, and what its last round meant to do, from the action after `after` on, oldest first. A lead that was
 * made is named by the id that it was given.
 */
export function listActions(
  db: Queryable,
  run: Pick<Run, 'id' | 'round' | 'undoOf'>,
  after: number,
  limit: number,
): Promise<readonly ListedAction[]> {
  return rowsOf(
    db,
    `select a.id, a.kind, a.lead_id as "leadId", a.row_number as row, a.changes, a.reason, a.state,
       coalesce(a.outcome_message, a.message) as message
     from actions a
     where a.run_id = $1 and (a.round = $2 or a.state = 'done') and a.kind <> all($3) and a.body is null and a.id > $4
     union all
     select l.id, 'create-row', l.lead_id, null, l.changes, 'new-lead', l.state, null
     from ${newRowsOf(`run_id = $1 and (round = $2 or state = 'done') and ${afterLines} > $4 order by id limit $5`)} l where l.id > $4
     order by id limit $5`,
    [run.id, run.round, run.undoOf === null ? silentKinds : [], after, limit],
  );
}
