import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisAddress } from '../config/redis-address.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { askingOptions, createRedisClient, isReadyWithin, type RedisClient } from './redis-client.ts';
import { lastingFault, readOnly, replyCode, sentinelFault, unavailable } from './redis-fault.ts';

/** Ms that a server may take to be ready: at the start, and for each operation. */
export const patienceMs = 3_000;

const pingMs = 2_000;

/** Ms for which the key of the last ping stays. */
const pingKeptMs = 60_000;

/** Waits until the server answers. Throws `queue.unavailable`; lasting faults at once. */
export async function waitForStart(
  client: RedisClient,
  address: RedisAddress,
  fault: () => unknown,
): Promise<void> {
  const { promise: broken, reject } = Promise.withResolvers<never>();
  const look = (error: Error): void => {
    const found = lastingFault(error, address);
    if (found !== null) reject(found);
  };
  client.on('error', look);
  try {
    const isReady = await Promise.race([isReadyWithin(client, patienceMs), broken]);
    if (!isReady) throw unavailable(fault(), address);
  } finally {
    client.off('error', look);
  }
}

/** Of all keys. A cluster must keep those of a queue in one slot. */
export const prefixFor = ({ kind }: RedisAddress): string => (kind === 'cluster' ? '{leadsync}' : 'leadsync');

/** Writes a key. Throws as `Backend.ping` does. */
export async function pingRedis(
  client: RedisClient,
  address: RedisAddress,
  fault: () => unknown,
): Promise<void> {
  const answer = isReadyWithin(client, pingMs).then((isReady) =>
    isReady ? client.set(`${prefixFor(address)}:ping`, '', 'PX', pingKeptMs) : null,
  );
  const reply = await Promise.race([answer, sleep(pingMs, null, { ref: false })]).catch((error: unknown) => {
    if (replyCode(error) !== null) throw lastingFault(error, address) ?? readOnly(error, address);
    return null;
  });
  if (reply === null) throw unavailable(fault(), address);
}

/** What keeps Redis from taking jobs now, without BullMQ, which takes long to load; null: nothing. */
export async function redisOutage(address: RedisAddress): Promise<LeadsyncError | null> {
  const client = createRedisClient(address, askingOptions);
  let fault: unknown = null;
  client.on('error', (error: Error) => {
    fault = error;
  });
  try {
    const unled = await sentinelFault(address);
    if (unled !== null) return unled;
    await waitForStart(client, address, () => fault);
    await pingRedis(client, address, () => fault);
    return null;
  } catch (error) {
    if (error instanceof LeadsyncError) return error;
    throw error;
  } finally {
    client.disconnect();
  }
}
