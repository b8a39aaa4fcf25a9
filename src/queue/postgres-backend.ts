import { setTimeout as sleep } from 'node:timers/promises';
import { createPostgresBackend, isPgPool, type PgPool, runMigrations, withBackend } from 'bullmq';
import pg from 'pg';
import { LeadsyncError } from '../errors.ts';
import type { Backend, BackendOptions } from './backend.ts';

const { Queue, Worker } = withBackend(createPostgresBackend);

/** Database connections besides those with which workers wait for jobs. */
const spareConnections = 8;

const pingMs = 2_000;

/** The queues in a schema of their own. `workers`: how many may be started at once; each keeps one connection to itself. */
export async function openPostgresBackend(
  connectionString: string,
  workers: number,
  { telemetry, warn }: BackendOptions,
): Promise<Backend> {
  // BullMQ expects its schema in the search path of a pool that it did not make itself.
  const pool = new pg.Pool({
    connectionString,
    max: workers + spareConnections,
    options: '-c search_path=bullmq',
    application_name: 'leadsync-queue',
  });
  // BullMQ listens once for each queue and worker.
  pool.setMaxListeners(0);
  pool.on('error', (error) => warn(error, 'the connection to the queue broke'));
  const client = await pool.connect();
  try {
    await runMigrations(client);
  } finally {
    client.release();
  }
  const shared = { connection: asPgPool(pool), ...(telemetry && { telemetry }) };
  return {
    openQueue(name) {
      const queue = new Queue<unknown, unknown>(name, shared);
      queue.on('error', (error) => warn(error, `queue ${name}`));
      return queue;
    },
    openWorker(name, process, settings) {
      const worker = new Worker(name, process, { ...shared, ...settings });
      worker.on('error', (error) => warn(error, `worker of queue ${name}`));
      return worker;
    },
    ask: (operation) => operation(),
    async ping() {
      const answer = pool.query('select 1');
      if ((await Promise.race([answer, sleep(pingMs, null, { ref: false })])) === null) {
        throw new LeadsyncError('queue.unavailable', 'the database does not answer', { retry: 'later' });
      }
    },
    // Whoever has come this far has a database that answers.
    examine: async () => [],
    [Symbol.asyncDispose]: () => pool.end(),
  };
}

/** BullMQ declares a pool of its own shape, which pg's types do not quite match; it has a test for the real thing. */
function asPgPool(pool: unknown): PgPool {
  if (!isPgPool(pool)) throw new TypeError('not a pool of pg');
  return pool;
}
