import type pg from 'pg';
import { heldItems } from './conflicts.ts';
import { isWhole, type RunMode, type RunStatus } from './runs.ts';
import { type Schedule, schedule } from './connections.ts';
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

/** The newest sync that was carried out. `age`: seconds since its end, by the clock of the database. */
export const successFigures = figures<{ connection: string; age: number }>(
  `select connection, extract(epoch from now() - max(finished_at))::float8 as age from runs
     where connection = any($1) and mode = 'sync' and status in ('succeeded', 'partial') and ${isWhole} group by 1`,
);

/** The schedules that workers have agreed on. */
export const scheduleFigures = figures<Schedule & { readonly connection: string }>(
  `select connection, ${schedule} from connections where connection = any($1) and pattern is not null`,
);

/** The newest sync that ended. `duration`: seconds. */
export const lastRunFigures = figures<{ connection: string; status: RunStatus; duration: number }>(
  `select distinct on (connection) connection, status, extract(epoch from finished_at - created_at)::float8 as duration
     from runs where connection = any($1) and mode = 'sync' and finished_at is not null and ${isWhole}
     order by connection, id desc`,
);

/** Unfinished runs, also waiting ones and those of a dead worker. `progressAt`: epoch s. */
export const openRunFigures = figures<{ connection: string; mode: RunMode; progressAt: number }>(
  `select connection, mode, extract(epoch from progress_at)::float8 as "progressAt" from runs
     where connection = any($1) and finished_at is null`,
);

/** What is held now; a connection that holds nothing is not among them. */
export const heldFigures = figures<{ connection: string; count: number }>(
  `select connection, count(*)::int as count from ${heldItems} and connection = any($1) group by 1`,
);

/** Mails of a kind that are not sent. `lateSeconds`: how late the oldest one is that is due; null: none is. */
export const mailFigures = figures<{
  connection: string;
  kind: 'reminder' | 'digest';
  failed: number;
  missed: number;
  lateSeconds: number | null;
}>(
  `select connection, case kind when 'digest' then kind else 'reminder' end as kind,
       count(*) filter (where state = 'failed')::int as failed, count(*) filter (where state = 'missed')::int as missed,
       extract(epoch from now() - min(send_at) filter (where state in ('scheduled', 'sending') and send_at <= now()))::float8
         as "lateSeconds"
     from mails where connection = any($1) and state in ('scheduled', 'sending', 'failed', 'missed') group by 1, 2`,
);

/** `scope`: see `serviceScope`. `until`: epoch s before which no request may leave; may be long past. */
export const throttleFigures = figures<{ scope: string; until: number }>(
  `select scope, extract(epoch from not_before)::float8 as until from services where scope = any($1) and not_before is not null`,
);
