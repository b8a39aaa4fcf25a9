import { pino } from 'pino';
import { afterEach, beforeEach, describe } from 'vitest';
import { parseRedisAddress } from '../../src/config/redis-address.ts';
import { openQueues, type QueueBackend, type Queues } from '../../src/queue/queue.ts';
import { createTestDatabase } from './database.ts';
import { jobPlaces, startRedis } from './redis.ts';

const silent = pino({ level: 'silent' });

interface Place {
  readonly backend: QueueBackend;
  /** Ms for which a queue is limited from now on; 0: it is not. */
  limitOf(queue: string): Promise<number>;
  close(): Promise<void>;
}

/** Each test has queues of its own. */
const places: Readonly<Record<string, () => Promise<Place>>> = {
  async Postgres() {
    const database = await createTestDatabase();
    return {
      backend: { kind: 'postgres', connectionString: database.url },
      async limitOf(queue) {
        const { rows } = await database.pool.query<{ until: string }>(
          'select expire_at_ms as until from bullmq.rate_limit where queue = $1',
          [queue],
        );
        return Number(rows[0]?.until ?? 0) - Date.now();
      },
      close: () => database.drop(),
    };
  },
  async Redis() {
    const redis = await startRedis();
    const backend = { kind: 'redis', address: parseRedisAddress(redis.url) } as const;
    return {
      backend,
      limitOf: async (queue) => Number(await redis.command('pttl', `leadsync:${queue}:limiter`)),
      close: async () => redis[Symbol.asyncDispose](),
    };
  },
};

/** What a test of the queues has at hand; new for each. */
interface QueuesUnderTest extends Omit<Place, 'close'> {
  readonly queues: Queues;
  /** Another process's view of the same queues. */
  openMore(lockMs?: number): Promise<Queues>;
}

/** Runs the same tests with queues in Postgres, and in Redis. */
export function describeQueues(tests: (at: QueuesUnderTest) => void): void {
  const inEach = (name: string): void => {
    let place: Place;
    let queues: Queues;

    beforeEach(async () => {
      const open = places[name];
      if (open === undefined) throw new Error(name);
      place = await open();
      queues = await openQueues(place.backend, silent, 8);
    });

    afterEach(async () => {
      await queues[Symbol.asyncDispose]();
      await place.close();
    });

    tests({
      get queues() {
        return queues;
      },
      get backend() {
        return place.backend;
      },
      limitOf: (queue) => place.limitOf(queue),
      openMore: (lockMs) => openQueues(place.backend, silent, 8, lockMs === undefined ? {} : { lockMs }),
    });
  };
  for (const [name, tags] of Object.entries(jobPlaces))
    describe(`queues in ${name}:`, { tags }, () => {
      inEach(name);
    });
}
