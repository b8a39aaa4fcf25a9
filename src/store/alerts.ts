import type pg from 'pg';
import { epochMs, oneOf, type Queryable, rowsOf, timestamp, transaction, valueOf } from './database.ts';
import { heldItems } from './conflicts.ts';
import { isWhole } from './runs.ts';

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

export function openAlerts(db: Queryable, connection: string): Promise<readonly OpenAlert[]> {
  return rowsOf(
    db,
    `select id, kind, level, detail, ${epochMs('raised_at')} as "raisedAt", ${epochMs('cleared_at')} as "clearedAt"
     from alerts where connection = $1 and over_at is null order by id`,
    [connection],
  );
}

/**
 * Stores a change at `now` (epoch ms) and, with it, its delivery to each channel. A second worker with the same change does
 * nothing.
 */
export async function noteAlertChange(
  db: pg.PoolClient,
  connection: string,
  change: AlertChange,
  channels: readonly string[],
  now: number,
): Promise<void> {
  const problem = 'problem' in change ? change.problem : null;
  const isTold = change.event !== 'cleared' && change.event !== 'returned';
  const about = { event: change.event, level: problem?.level ?? 0, createdAt: now };
  const owed = isTold ? channels.map((channel) => ({ ...about, channel, attempts: 0, nextTryAt: now })) : [];
  const facts = [
    timestamp(now),
    problem?.level,
    problem && JSON.stringify(problem.detail),
    JSON.stringify(owed),
  ];
  if (change.event === 'raised')
    await db.query(
      `insert into alerts (raised_at, level, detail, owed, connection, kind) values ($1, $2, $3, $4, $5, $6)
       on conflict do nothing`,
      [...facts, connection, change.problem.kind],
    );
  else
    await db.query(
      `update alerts set level = coalesce($2, level), detail = coalesce($3, detail), owed = owed || $4,
         cleared_at = case $6::text when 'cleared' then $1::timestamptz when 'over' then cleared_at end,
         over_at = case $6::text when 'over' then $1::timestamptz end
       where id = $5 and over_at is null`,
      [...facts, change.id, change.event],
    );
}

/** Deletes, with their deliveries, the problems that were over `afterMs` ago. */
export async function forgetAlerts(db: pg.PoolClient, now: number, afterMs: number): Promise<void> {
  await db.query(`delete from alerts where over_at < $1`, [timestamp(now - afterMs)]);
}

/** What is owed to one channel, as the column holds it. Times are epoch ms. */
interface OwedDelivery {
  readonly event: 'raised' | 'grown' | 'over';
  readonly level: number;
  readonly channel: string;
  readonly createdAt: number;
  readonly attempts: number;
  readonly nextTryAt: number;
}

/** A change of a problem on its way to one channel. `attempts`: with the current one. */
export interface AlertDelivery extends Omit<OpenAlert, 'id' | 'level'>, Omit<OwedDelivery, 'nextTryAt'> {
  readonly alertId: number;
  readonly connection: string;
}

/**
 * Claims for `claimMs` up to `limit` deliveries to these channels that are due at `now` (epoch ms), oldest first: no other
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
  return transaction(pool, async (db) => {
    const alerts = await rowsOf<
      Omit<AlertDelivery, keyof OwedDelivery> & { readonly owed: readonly OwedDelivery[] }
    >(
      db,
      `select id as "alertId", connection, kind, detail, ${epochMs('raised_at')} as "raisedAt",
         ${epochMs('cleared_at')} as "clearedAt", owed from alerts where owed <> '[]' for update skip locked`,
    );
    const due = alerts
      .flatMap(({ owed, ...alert }) => {
        const next = channels.flatMap((one) => owed.find(({ channel }) => channel === one) ?? []);
        return next
          .filter(({ nextTryAt }) => nextTryAt <= now)
          .map(({ nextTryAt: _, ...owed }) => ({ ...alert, ...owed, attempts: owed.attempts + 1 }));
      })
      .toSorted((one, other) => one.createdAt - other.createdAt)
      .slice(0, limit);
    for (const delivery of due)
      await setOwed(db, delivery, { attempts: delivery.attempts, nextTryAt: now + claimMs });
    return due;
  });
}

/** An attempt has failed: it is due again at `at` (epoch ms). */
export function putOffDelivery(pool: pg.Pool, delivery: AlertDelivery, at: number): Promise<void> {
  return setOwed(pool, delivery, { nextTryAt: at });
}

/** It was sent, or given up. */
export function endDelivery(pool: pg.Pool, delivery: AlertDelivery): Promise<void> {
  return setOwed(pool, delivery, null);
}

/** `to`: null: nothing is owed any more. */
async function setOwed(
  db: Queryable,
  { alertId, event, level, channel }: AlertDelivery,
  to: Partial<OwedDelivery> | null,
): Promise<void> {
  await db.query(
    `update alerts set owed = (
       select coalesce(jsonb_agg(case when one @> $2 then one || $3 else one end order by nth), '[]')
       from jsonb_array_elements(owed) with ordinality as all_owed (one, nth) where not one @> $2 or $3::jsonb is not null)
     where id = $1`,
    [alertId, { event, level, channel }, to],
  );
}

/** A run that ended without carrying out a sync. */
export interface FailedRun {
  readonly runId: number;
  readonly status: 'failed' | 'stopped';
  readonly code: string;
  readonly message: string;
}

/** The facts about a connection that may be problems. Times are epoch ms. */
export interface ConnectionFacts {
  /** The last sync that was carried out, whether anything was held or put off in it or not. */
  readonly lastSuccess: { readonly runId: number; readonly at: number } | null;
  readonly watchedSince: number;
  /** Scheduled or asked-for syncs that ended otherwise since then, newest first. */
  readonly failures: readonly FailedRun[];
  /** Items on which no person has decided. */
  readonly held: number;
  /** Those of them that have waited for a day. */
  readonly heldLong: number;
  /** Reminders and digests. `failed` and `missed` (though they were tried): of late; `late`: still to be sent. */
  readonly mails: { readonly failed: number; readonly missed: number; readonly late: number };
}

const failuresSeen = 50;

/** A failed mail counts for this long (ms); an unsent one is late after this long. */
const failedMs = 24 * 3_600_000;
const lateMs = 3_600_000;

/** What is held for so long (ms) may have been overlooked. */
const longMs = 24 * 3_600_000;

/** Looks at a connection at `now` (epoch ms), and remembers when that was done for the first time. */
export async function connectionFacts(
  db: pg.PoolClient,
  connection: string,
  now: number,
): Promise<ConnectionFacts> {
  await db.query(
    `insert into connections as c (connection, watched_since) values ($1, $2)
     on conflict (connection) do update set watched_since = excluded.watched_since where c.watched_since is null`,
    [connection, timestamp(now)],
  );
  const { since, runId, at, held, heldLong } = await oneOf<{
    since: number;
    runId: number | null;
    at: number | null;
    held: number;
    heldLong: number;
  }>(
    db,
    `select ${epochMs('watched_since')} as since, s.id as "runId", s.at,
       h.held, h."heldLong"
     from connections w cross join lateral (
       select count(*)::int as held, count(*) filter (where coalesce(settled_at, since) <= $2)::int as "heldLong"
       from ${heldItems} and connection = $1 and resolution is null) h left join lateral (
       select id, ${epochMs('finished_at')} as at from runs r where r.connection = $1 and mode = 'sync'
         and status in ('succeeded', 'partial') and ${isWhole} order by id desc limit 1) s on true
     where w.connection = $1`,
    [connection, timestamp(now - longMs)],
  );
  return {
    lastSuccess: runId === null || at === null ? null : { runId, at },
    watchedSince: since,
    failures: await failuresSince(db, connection, runId ?? 0),
    held,
    heldLong,
    mails: await mailFacts(db, connection, now),
  };
}

function failuresSince(db: pg.PoolClient, connection: string, runId: number): Promise<readonly FailedRun[]> {
  return rowsOf(
    db,
    `select id as "runId", status, coalesce(report->'problems'->0->>'code', 'internal') as code,
       coalesce(report->'problems'->0->>'message', '') as message
     from runs where connection = $1 and id > $2 and mode = 'sync' and status in ('failed', 'stopped')
       and ${isWhole} order by id desc limit $3`,
    [connection, runId, failuresSeen],
  );
}

/**
 * A mail is late after an hour of failed attempts, or an hour after it was due and planned without an attempt. A mail planned
 * when it was overdue for more than `graceMs` already, as after a first sync, is missed without an attempt: no failure.
 */
function mailFacts(db: pg.PoolClient, connection: string, now: number): Promise<ConnectionFacts['mails']> {
  return oneOf(
    db,
    `select count(*) filter (where state = 'failed' and updated_at > $2)::int as failed,
       count(*) filter (where state = 'missed' and attempts > 0 and updated_at > $2)::int as missed,
       count(*) filter (where state in ('scheduled', 'sending')
         and greatest(send_at, coalesce(first_tried_at, updated_at)) < $3)::int as late
     from mails where connection = $1
       and (state in ('scheduled', 'sending') or (state in ('failed', 'missed') and updated_at > $2))`,
    [connection, timestamp(now - failedMs), timestamp(now - lateMs)],
  );
}
