import type pg from 'pg';
import type { RunMode, RunStatus } from './runs.ts';
import { transaction } from './database.ts';

/** Timeout of a query for metrics (ms). */
const statementMs = 2_000;

/**
 * A query for metrics: read-only, and with a timeout, so that a scrape never blocks a sync.
 *
 * @param text $1: connections or scopes
 */
function figures<Row extends pg.QueryResultRow>(
  text: string,
): (pool: pg.Pool, of: readonly string[]) => Promise<readonly Row[]> {
  return (pool, of) =>
    transaction(pool, async (db) => {
      await db.query(`set transaction read only`);
      await db.query(`set local statement_timeout = ${statementMs}`);
      return (await db.query<Row>(text, [of])).rows;
    });
}

/** The newest sync of $1 that ended, for each connection; neither an undo nor the application of a reviewed plan. */
const lastRuns = `select distinct on (connection) * from runs where connection = any($1) and mode = 'sync'
  and finished_at is not null and approval is null and undo_of is null order by connection, id desc`;

/** Finished runs that the history still has, by how they ended. Epoch s; the age is by the clock of the database. */
export interface OutcomeFigures {
  readonly connection: string;
  readonly mode: RunMode;
  readonly status: Exclude<RunStatus, 'running'>;
  readonly count: number;
  /** Of whole syncs alone; null: none ended so. */
  readonly lastAt: number | null;
  readonly lastAge: number | null;
}

export const outcomeFigures = figures<OutcomeFigures>(
  `select connection, mode, status, count, extract(epoch from at)::float8 as "lastAt",
       extract(epoch from now() - at)::float8 as "lastAge"
     from (select connection, mode, status, count(*)::int as count,
         max(finished_at) filter (where mode = 'sync' and approval is null and undo_of is null) as at
       from runs where connection = any($1) and finished_at is not null group by 1, 2, 3) outcomes`,
);

/** The newest sync that ended. Seconds, and epoch s. */
export interface LastRunFigures {
  readonly connection: string;
  readonly status: Exclude<RunStatus, 'running'>;
  readonly finishedAt: number;
  readonly duration: number;
  readonly waited: number;
  readonly pulled: number;
  readonly targetRows: number;
  readonly leadRequests: number;
  readonly targetRequests: number;
  /** As its report counts it. */
  readonly putOff: number;
}

export const lastRunFigures = figures<LastRunFigures>(
  `select connection, status, extract(epoch from finished_at)::float8 as "finishedAt",
       extract(epoch from finished_at - created_at)::float8 as duration, (waited_ms / 1000.0)::float8 as waited, pulled,
       target_rows as "targetRows", lead_requests as "leadRequests", target_requests as "targetRequests",
       coalesce((report->>'putOff')::int, 0) as "putOff" from (${lastRuns}) last`,
);

/** Unfinished runs, also waiting ones and those of a dead worker. Epoch s. */
export interface OpenRunFigures {
  readonly connection: string;
  readonly mode: RunMode;
  readonly startedAt: number;
  readonly progressAt: number;
}

export const openRunFigures = figures<OpenRunFigures>(
  `select connection, mode, extract(epoch from created_at)::float8 as "startedAt",
       extract(epoch from progress_at)::float8 as "progressAt" from runs where connection = any($1) and finished_at is null`,
);

/**
 * Actions of the newest sync that ended. What an earlier round put off, a later one has decided again; to hold is all that
 * is ever done of a `hold`.
 */
export interface ActionFigures {
  readonly connection: string;
  readonly kind: string;
  readonly state: string;
  readonly count: number;
}

export const actionFigures = figures<ActionFigures>(
  `select last.connection, a.kind, case a.kind when 'hold' then 'held' else a.state end as state, sum(count)::int as count
     from (${lastRuns}) last
     join (select run_id, round, kind, state, 1 as count from actions
       union all select run_id, round, 'create-row', state, count from new_row_counts) a
       on a.run_id = last.id and (a.state = 'done' or a.round = last.round) group by 1, 2, 3`,
);

export interface HeldFigures {
  readonly connection: string;
  readonly count: number;
}

/** What is held now; a connection that holds nothing is not among them. */
export const heldFigures = figures<HeldFigures>(
  `select connection, count(*)::int as count from held_items where connection = any($1) group by 1`,
);

/** Mails of a kind in a state. */
export interface MailFigures {
  readonly connection: string;
  readonly kind: 'reminder' | 'digest';
  readonly state: string;
  readonly count: number;
  /** How late the oldest one is that is due and not sent; null: none is. */
  readonly lateSeconds: number | null;
  /** How late those were that were sent in the last 24 hours: the median, 95 % of them, all; null: none was sent. */
  readonly sentLateSeconds: readonly number[] | null;
}

/** Those that are later come after others. */
export const mailFigures = figures<MailFigures>(
  // The percentiles apart: with them the count would have to sort every mail.
  `with owed as not materialized (
         select *, case kind when 'digest' then kind else 'reminder' end as sort from mails where connection = any($1)),
       sent as (
         select connection, sort, 'sent' as state, percentile_cont(array[0.5, 0.95, 1]) within group (
             order by greatest(0, extract(epoch from updated_at - send_at))) as "sentLateSeconds"
         from owed where state = 'sent' and updated_at > now() - interval '1 day' group by 1, 2)
     select connection, sort as kind, state, count, "lateSeconds", "sentLateSeconds" from (
       select connection, sort, state, count(*)::int as count, extract(epoch from now() - min(send_at)
         filter (where state in ('scheduled', 'sending') and send_at <= now()))::float8 as "lateSeconds"
       from owed group by 1, 2, 3) counts left join sent using (connection, sort, state)
     order by "lateSeconds" nulls first`,
);

export interface ThrottleFigures {
  readonly scope: string;
  /** Epoch s before which no request may leave; may be long past. */
  readonly until: number;
}

/** See `serviceScope`. */
export const throttleFigures = figures<ThrottleFigures>(
  `select scope, extract(epoch from not_before)::float8 as until from services where scope = any($1) and not_before is not null`,
);
