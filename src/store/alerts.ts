import type pg from 'pg';
import { epochMs, type Queryable } from './database.ts';
import { timestamp } from './timestamp.ts';

export type AlertKind =
  | 'run-failed'
  | 'guard-stop'
  | 'key-rejected'
  | 'held-growing'
  | 'reminders-failing'
  | 'no-success'
  | 'heartbeat-failing';

/** What a problem is told with. Times are epoch ms. Nothing of a lead, and no secret. */
export interface AlertDetail {
  readonly code?: string;
  /** A fault's own words, for the operator's mail alone. */
  readonly message?: string;
  readonly runId?: number;
  readonly count?: number;
  readonly missed?: number;
  readonly late?: number;
  /** Since when it is so; null: never. */
  readonly since?: number | null;
}

/** Something that is wrong with a connection now. */
export interface AlertProblem {
  readonly kind: AlertKind;
  /** How bad it is, from 0. */
  readonly level: number;
  readonly detail: AlertDetail;
}

/** A problem that was told and is not over. Times are epoch ms. */
export interface OpenAlert {
  readonly id: number;
  readonly kind: AlertKind;
  readonly level: number;
  /** Not seen any more since then; null: it is there. */
  readonly clearedAt: number | null;
}

/** What a look at a connection changes. `cleared` and `returned` are only remembered, the others are told. */
export type AlertChange =
  | { readonly event: 'raised'; readonly problem: AlertProblem }
  | { readonly event: 'grown'; readonly id: number; readonly problem: AlertProblem }
  | { readonly event: 'cleared' | 'returned' | 'over'; readonly id: number };

/** Two-part key of the advisory lock: "lead", "aler". */
const turnLock = [0x6c656164, 0x616c6572];

/**
 * Whether this transaction is the one that decides now. False: another worker is at it. The turn of a worker that is
 * stopped in the middle ends after half a minute, with its session: nobody else could tell that it is dead.
 */
export async function takeAlertTurn(db: pg.PoolClient): Promise<boolean> {
  await db.query(`set local idle_in_transaction_session_timeout = '30s'`);
  const { rows } = await db.query<{ mine: boolean }>(
    'select pg_try_advisory_xact_lock($1, $2) as mine',
    turnLock,
  );
  return rows[0]?.mine === true;
}

/** The problems of a connection that were told and are not over, oldest first. */
export async function openAlerts(db: pg.PoolClient, connection: string): Promise<readonly OpenAlert[]> {
  const { rows } = await db.query<OpenAlert>(
    `select id, kind, level, ${epochMs('cleared_at')} as "clearedAt"
     from alerts where connection = $1 and over_at is null order by id`,
    [connection],
  );
  return rows;
}

/**
 * Notes a change at `now` (epoch ms) and, in the same transaction, that each channel is to be told of it. Whoever comes
 * second with the same change does nothing.
 */
export async function noteAlertChange(
  db: pg.PoolClient,
  connection: string,
  change: AlertChange,
  channels: readonly string[],
  now: number,
): Promise<void> {
  const at = timestamp(now);
  const { rows } = await noted(db, connection, change, at);
  const [alert] = rows;
  if (alert === undefined || change.event === 'cleared' || change.event === 'returned') return;
  await db.query(
    `insert into tellings (alert_id, event, level, channel, created_at, next_try_at)
     select $1, $2, $3, channel, $5, $5 from unnest($4::text[]) channel on conflict do nothing`,
    [alert.id, change.event, alert.level, channels, at],
  );
}

function noted(
  db: pg.PoolClient,
  connection: string,
  change: AlertChange,
  at: string,
): Promise<pg.QueryResult<{ id: number; level: number }>> {
  switch (change.event) {
    case 'raised': {
      const { kind, level, detail } = change.problem;
      return db.query(
        `insert into alerts (connection, kind, level, detail, raised_at) values ($1, $2, $3, $4, $5)
         on conflict do nothing returning id, level`,
        [connection, kind, level, JSON.stringify(detail), at],
      );
    }
    case 'grown': {
      const { level, detail } = change.problem;
      return db.query(
        `update alerts set level = $2, detail = $3, cleared_at = null
         where id = $1 and over_at is null and level < $2 returning id, level`,
        [change.id, level, JSON.stringify(detail)],
      );
    }
    case 'cleared':
      return db.query(
        `update alerts set cleared_at = $2 where id = $1 and cleared_at is null returning id, level`,
        [change.id, at],
      );
    case 'returned':
      return db.query(`update alerts set cleared_at = null where id = $1 returning id, level`, [change.id]);
    case 'over':
      return db.query(
        `update alerts set over_at = $2 where id = $1 and over_at is null returning id, level`,
        [change.id, at],
      );
    default:
      return change satisfies never;
  }
}

/** Forgets, with all that was told of them, the problems that were over so many ms ago. */
export async function forgetAlerts(db: pg.PoolClient, now: number, afterMs: number): Promise<void> {
  await db.query(`delete from alerts where over_at < $1`, [timestamp(now - afterMs)]);
}

/** A problem that was told and is not over, as it is listed. */
export interface ListedAlert {
  readonly kind: AlertKind;
  readonly detail: AlertDetail;
  /** Epoch ms. */
  readonly raisedAt: number;
}

/** The problems of a connection that are there now, oldest first. */
export async function listAlerts(db: Queryable, connection: string): Promise<readonly ListedAlert[]> {
  const { rows } = await db.query<ListedAlert>(
    `select kind, detail, ${epochMs('raised_at')} as "raisedAt"
     from alerts where connection = $1 and over_at is null and cleared_at is null order by id`,
    [connection],
  );
  return rows;
}
