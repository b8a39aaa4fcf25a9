import type pg from 'pg';
import type { Config } from '../config/config.ts';
import { redisAddressOf } from '../config/redis-address.ts';
import { asOutage } from '../postgres/database-outage.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { claimedAt, lastWriteAt, probeWrite } from '../store/keeper.ts';

/** A server without which nothing goes on. */
export interface ServerOutage {
  readonly of: 'database' | 'queue';
  readonly code: string;
  readonly message: string;
  /** ISO instant of the last write to the database, or when a worker last reached the queue; null: not known. */
  readonly lastReachedAt: string | null;
}

/** The servers that take no writes now. Throws when the database does not even answer. */
export async function serverOutages(pool: pg.Pool, config: Config): Promise<readonly ServerOutage[]> {
  const found = [
    { of: 'database', fault: await databaseFault(pool), lastAt: () => lastWriteAt(pool) },
    { of: 'queue', fault: await queueFault(config), lastAt: () => claimedAt(pool) },
  ] as const;
  const outages: ServerOutage[] = [];
  for (const { of, fault, lastAt } of found) {
    if (fault === null) continue;
    const at = await lastAt();
    const { code, message } = fault;
    outages.push({ of, code, message, lastReachedAt: at === null ? null : new Date(at).toISOString() });
  }
  return outages;
}

async function databaseFault(pool: pg.Pool): Promise<LeadsyncError | null> {
  try {
    await probeWrite(pool);
    return null;
  } catch (thrown) {
    const fault = asOutage(thrown);
    if (fault instanceof LeadsyncError) return fault;
    throw fault;
  }
}

/** Null also when the jobs are in the database. */
async function queueFault({ redisUrl }: Config): Promise<LeadsyncError | null> {
  if (redisUrl === undefined) return null;
  const { redisOutage } = await import('../queue/redis-ping.ts');
  return redisOutage(redisAddressOf(redisUrl));
}
