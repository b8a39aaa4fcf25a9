import type pg from 'pg';
import { epochMs, type Queryable, rowsOf, timestamp, valueOf } from './database.ts';

export type AlertKind =
  | 'run-failed'
  | 'guard-stop'
  | 'key-rejected'
  | 'held-growing'
  | 'reminders-failing'
  | 'no-success'
  | 'heartbeat-failing';

/** The facts of a problem. Times are epoch ms. Nothing of a lead, and no secret. */
interface AlertDetail {
  readonly code?: string;
  /** A fault's own words, for the operator's mail alone. */
  readonly message?: string;
  readonly runId?: number;
  readonly count?: number;
  readonly missed?: number;
  readonly late?: number;
  /** When it began; of `no-success` the last success, null: never. */
  readonly since?: number | null;
}

/** Something that is wrong with a connection now. */
export interface AlertProblem {
  readonly kind: AlertKind;
  /** How bad it is, from 0. */
  readonly level: number;
  readonly detail: AlertDetail;
}

/** A problem that is not over. Times are epoch ms. */
export interface OpenAlert {
  readonly id: number;
  readonly kind: AlertKind;
  readonly level: number;
  readonly detail: AlertDetail;
  readonly raisedAt: number;
  /** When it disappeared; null: it is there. */
  readonly clearedAt: number | null;
}

/** What a check of a connection changes. `cleared` and `returned` are only stored, the others are delivered. */
export type AlertChange =
  | { readonly event: 'raised'; readonly problem: AlertProblem }
  | { readonly event: 'grown'; readonly id: number; readonly problem: AlertProblem }
  | { readonly event: 'cleared' | 'returned' | 'over'; readonly id: number };

/** Two-part key of the advisory lock: "lead", "aler". */
const turnLock = [0x6c656164, 0x616c6572];

/**
 * Whether this transaction decides now. False: another worker does. The turn of a worker that dies in the middle ends with
 * its session, after half a minute: no other worker could see that it is dead.
 */
export async function takeAlertTurn(db: pg.PoolClient): Promise<boolean> {
  await db.query(`set local idle_in_transaction_session_timeout = '30s'`);
  return (await valueOf<boolean>(db, 'select pg_try_advisory_xact_lock($1, $2)', turnLock)) === true;
}

/** The problems of a connection that are not over, oldest first. */
export function openAlerts(db: Queryable, connection: string): Promise<readonly OpenAlert[]> {
  return rowsOf(
    db,
    `select id, kind, level, detail, ${epochMs('raised_at')} as "raisedAt", ${epochMs('cleared_at')} as "clearedAt"
     from alerts where connection = $1 and over_at is null order by id`,
    [connection],
  );
}

/**
 * Stores a change at `now` (epoch ms) and, in the same transaction, its delivery to each channel. A second worker with the
 * same change does nothing.
 */
export async function noteAlertChange(
  db: pg.PoolClient,
  connection: string,
  change: AlertChange,
  channels: readonly string[],
  now: number,
): Promise<void> {
  const at = timestamp(now);
  const { rows } = await (change.event === 'raised'
    ? raise(db, connection, change.problem, at)
    : update(db, change, at));
  const [alert] = rows;
  if (alert === undefined || change.event === 'cleared' || change.event === 'returned') return;
  await db.query(
    `insert into alert_deliveries (alert_id, event, level, channel, created_at, next_try_at)
     select $1, $2, $3, channel, $5, $5 from unnest($4::text[]) channel on conflict do nothing`,
    [alert.id, change.event, alert.level, channels, at],
  );
}

type Noted = pg.QueryResult<{ id: number; level: number }>;

function raise(
  db: pg.PoolClient,
  connection: string,
  { kind, level, detail }: AlertProblem,
  at: string,
): Promise<Noted> {
  return db.query(
    `insert into alerts (connection, kind, level, detail, raised_at) values ($1, $2, $3, $4, $5)
     on conflict do nothing returning id, level`,
    [connection, kind, level, JSON.stringify(detail), at],
  );
}

function update(
  db: pg.PoolClient,
  change: Exclude<AlertChange, { event: 'raised' }>,
  at: string,
): Promise<Noted> {
  const grown = change.event === 'grown' ? change.problem : undefined;
  return db.query(
    `update alerts set level = coalesce($4, level), detail = coalesce($5, detail),
       cleared_at = case $2::text when 'cleared' then $3::timestamptz when 'over' then cleared_at end,
       over_at = case $2::text when 'over' then $3::timestamptz end
     where id = $1 and over_at is null returning id, level`,
    [
      change.id,
      change.event,
      at,
      grown?.level ?? null,
      grown === undefined ? null : JSON.stringify(grown.detail),
    ],
  );
}

/** Deletes, with their deliveries, the problems that were over `afterMs` ago. */
export async function forgetAlerts(db: pg.PoolClient, now: number, afterMs: number): Promise<void> {
  await db.query(`delete from alerts where over_at < $1`, [timestamp(now - afterMs)]);
}

/** A change of a problem on its way to one channel. Times are epoch ms. */
export interface AlertDelivery {
  readonly id: number;
  readonly alertId: number;
  readonly event: 'raised' | 'grown' | 'over';
  readonly level: number;
  readonly channel: string;
  readonly createdAt: number;
  /** With the current one. */
  readonly attempts: number;
  readonly connection: string;
  readonly kind: AlertKind;
  readonly detail: AlertDetail;
  readonly raisedAt: number;
  readonly clearedAt: number | null;
}

/**
 * Claims for `claimMs` up to `limit` deliveries of these channels that are due at `now` (epoch ms), oldest first: no other
 * process gets them meanwhile, and those of a dead claimant are due again afterwards. A channel gets the changes of a problem
 * in order.
 */
export function claimDeliveries(
  pool: pg.Pool,
  channels: readonly string[],
  now: number,
  claimMs: number,
  limit: number,
): Promise<readonly AlertDelivery[]> {
  return rowsOf(
    pool,
    `update alert_deliveries t set next_try_at = $3, attempts = attempts + 1 from alerts a
     where a.id = t.alert_id and t.id in (
       select id from alert_deliveries c where ended_at is null and next_try_at <= $2 and channel = any($1) and not exists (
         select from alert_deliveries e where e.alert_id = c.alert_id and e.channel = c.channel and e.id < c.id and e.ended_at is null)
       order by id limit $4 for update skip locked)
     returning t.id, t.alert_id as "alertId", t.event, t.level, t.channel, ${epochMs('t.created_at')} as "createdAt", t.attempts,
       a.connection, a.kind, a.detail, ${epochMs('a.raised_at')} as "raisedAt", ${epochMs('a.cleared_at')} as "clearedAt"`,
    [channels, timestamp(now), timestamp(now + claimMs), limit],
  );
}

/** Notes an attempt: `ended` at `at` (epoch ms), sent or with a fault given up; or failed, and `due` again at `at`. */
export async function noteAttempt(
  pool: pg.Pool,
  id: number,
  state: 'ended' | 'due',
  at: number,
  fault: string | null,
): Promise<void> {
  const column = state === 'ended' ? 'ended_at' : 'next_try_at';
  await pool.query(`update alert_deliveries set ${column} = $2, fault = $3 where id = $1`, [
    id,
    timestamp(at),
    fault,
  ]);
}
