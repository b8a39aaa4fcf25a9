import type pg from 'pg';
import type { AlertDetail, AlertKind } from './alerts.ts';
import { epochMs } from './database.ts';
import { timestamp } from './timestamp.ts';

/** What one channel is to be told of a problem. Times are epoch ms. */
export interface Telling {
  readonly id: number;
  readonly alertId: number;
  readonly event: 'raised' | 'grown' | 'over';
  readonly level: number;
  readonly channel: string;
  readonly createdAt: number;
  /** With the one that was just begun. */
  readonly attempts: number;
  readonly connection: string;
  readonly kind: AlertKind;
  readonly detail: AlertDetail;
  readonly raisedAt: number;
  readonly clearedAt: number | null;
}

/**
 * Claims for `claimMs` up to `limit` tellings of these channels that are due at `now` (epoch ms), oldest first: no other
 * process gets them meanwhile, and one whose claimant died is due again afterwards. A channel hears of a problem in order.
 */
export async function claimTellings(
  pool: pg.Pool,
  channels: readonly string[],
  now: number,
  claimMs: number,
  limit: number,
): Promise<readonly Telling[]> {
  const { rows } = await pool.query<Telling>(
    `update tellings t set next_try_at = $3, attempts = attempts + 1 from alerts a
     where a.id = t.alert_id and t.id in (
       select id from tellings c where ended_at is null and next_try_at <= $2 and channel = any($1) and not exists (
         select from tellings e where e.alert_id = c.alert_id and e.channel = c.channel and e.id < c.id and e.ended_at is null)
       order by id limit $4 for update skip locked)
     returning t.id, t.alert_id as "alertId", t.event, t.level, t.channel, ${epochMs('t.created_at')} as "createdAt", t.attempts,
       a.connection, a.kind, a.detail, ${epochMs('a.raised_at')} as "raisedAt", ${epochMs('a.cleared_at')} as "clearedAt"`,
    [channels, timestamp(now), timestamp(now + claimMs), limit],
  );
  return rows;
}

/** It was told at `now` (epoch ms); or, with a fault, it was given up. */
export async function endTelling(
  pool: pg.Pool,
  id: number,
  now: number,
  fault: string | null,
): Promise<void> {
  await pool.query(`update tellings set ended_at = $2, fault = $3 where id = $1`, [
    id,
    timestamp(now),
    fault,
  ]);
}

/** It could not be told and is due again at `nextTryAt` (epoch ms). */
export async function putOffTelling(
  pool: pg.Pool,
  id: number,
  nextTryAt: number,
  fault: string,
): Promise<void> {
  await pool.query(`update tellings set next_try_at = $2, fault = $3 where id = $1`, [
    id,
    timestamp(nextTryAt),
    fault,
  ]);
}
