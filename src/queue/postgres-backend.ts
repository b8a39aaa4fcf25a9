import { setTimeout as sleep } from 'node:timers/promises';
import {
  assertSchemaCompatibility,
  ConnectionClosedError,
  createPostgresBackend,
  isPgPool,
  LATEST_SCHEMA_VERSION,
  type PgPool,
  runMigrations,
  SchemaMigrationRequiredError,
  withBackend,
} from 'bullmq';
import pg from 'pg';
import { isDatabaseOutage } from '../postgres/database-outage.ts';
import { certificateHelp, codeOf, isCertificateFault, LeadsyncError } from '../lib/errors.ts';
import { pacedClient, type PostgresUrl } from '../postgres/postgres-client.ts';
import { makeSchema, withSchemaRights } from '../postgres/schema-rights.ts';
import { type Backend, type BackendOptions, onWorkerError } from './backend.ts';
import { scheduleSettings } from './work.ts';

const { Queue, Worker: UsualWorker } = withBackend(createPostgresBackend);

/** How long (s) a worker waits before it looks at the clock and the queue again. */
const longestWaitS = 10;

/** BullMQ's own would wait for an hour for a job that is hours away, also when the clock jumps or the machine sleeps meanwhile. */
class Worker extends UsualWorker {
  override get maximumBlockTimeout(): number {
    return longestWaitS;
  }
}

/** Database connections besides those with which workers wait for jobs. */
const spareConnections = 8;

const pingMs = 2_000;

/** Ms between a worker's attempts to reach a database that is away. */
const retryMs = 1_000;

/** The queues in a schema of their own. `workers`: how many may run at once; each keeps a connection to itself. */
export async function openPostgresBackend(
  connectionString: PostgresUrl,
  workers: number,
  { telemetry, warn }: BackendOptions,
): Promise<Backend> {
  // BullMQ expects its schema in the search path of a pool that it did not make itself.
  const pool = new pg.Pool({
    Client: pacedClient(connectionString, unreachable),
    max: workers + spareConnections,
    keepAlive: true,
    // The system's default is hours: for that long a worker would listen to a cut connection.
    keepAliveInitialDelayMillis: 10_000,
    options: '-c search_path=bullmq',
    application_name: 'leadsync-queue',
  });
  // BullMQ listens once for each queue and worker.
  pool.setMaxListeners(0);
  let isAway = false;
  /** Reports an outage once: every queue and worker meets it, again and again. */
  const warnOnce = (error: Error, message: string): void => {
    const outage = error instanceof ConnectionClosedError || isDatabaseOutage(error);
    if (outage && isAway) return;
    isAway ||= outage;
    if (outage) warn(unavailable(error), 'the connection to the queue broke; leadsync reconnects');
    else warn(error, message);
  };
  pool.on('error', (error) => warnOnce(error, 'the connection to the queue broke'));
  pool.on('connect', () => {
    isAway = false;
  });
  try {
    const client = await pool.connect();
    try {
      await withSchemaRights(client, () => prepare(client));
    } finally {
      client.release();
    }
  } catch (error) {
    throw unavailable(error);
  }
  const shared = {
    connection: translatingOutages(pool),
    settings: scheduleSettings,
    ...(telemetry && { telemetry }),
  };
  return {
    openQueue(name) {
      const queue = new Queue<unknown, unknown>(name, shared);
      queue.on('error', (error) => warnOnce(error, `queue ${name}`));
      return queue;
    },
    openWorker(name, process, settings) {
      const stop = new AbortController();
      const open = (): InstanceType<typeof Worker> => {
        const opened = new Worker(name, process, {
          ...shared,
          ...settings,
          autorun: false,
          runRetryDelay: retryMs,
        });
        onWorkerError(opened, (error) => warnOnce(error, `worker of queue ${name}`));
        return opened;
      };
      let worker: ReturnType<typeof open> | undefined;
      const run = async (): Promise<void> => {
        while (!stop.signal.aborted) {
          worker = open();
          try {
            await worker.waitUntilReady();
            return await worker.run();
          } catch (error) {
            // BullMQ keeps the outcome of a worker's first use: after a fault this worker would retry for ever, without a pause.
            if (error instanceof Error) warnOnce(error, `worker of queue ${name}`);
            await worker.close(true).catch(() => {});
            await sleep(retryMs, undefined, { signal: stop.signal }).catch(() => {});
          }
        }
      };
      const running = run();
      return {
        async close() {
          stop.abort();
          await worker?.close();
          await running;
        },
      };
    },
    async ask(operation) {
      try {
        return await operation();
      } catch (error) {
        throw unavailable(error);
      }
    },
    async ping() {
      // Whether the database takes writes is asked where the state is, which is the same one.
      const answer = pool.query('select 1');
      if ((await Promise.race([answer, sleep(pingMs, null, { ref: false })])) === null) {
        throw new LeadsyncError('queue.unavailable', 'the database does not answer', { retry: 'later' });
      }
    },
    connections: () => 0,
    clock: null,
    claim: null,
    examine: async () => [],
    [Symbol.asyncDispose]: () => pool.end(),
  };
}

async function prepare(client: pg.PoolClient): Promise<void> {
  if ((await schemaVersion(client)) >= LATEST_SCHEMA_VERSION) return;
  await makeSchema(client, 'bullmq');
  const skipping: unknown = {
    // Several statements may be one text, which takes no values.
    query: (text: string, values?: unknown[]) =>
      /^create schema/i.test(text)
        ? client.query('select')
        : values === undefined
          ? client.query(text)
          : client.query(text, values),
  };
  await runMigrations(skipping as pg.PoolClient);
}

/**
 * The version of BullMQ's tables; 0: there are none. It is read first because a needless migration locks the tables all the
 * same.
 */
async function schemaVersion(client: pg.PoolClient): Promise<number> {
  try {
    return await assertSchemaCompatibility(client);
  } catch (error) {
    if (error instanceof SchemaMigrationRequiredError) return 0;
    throw error;
  }
}

/** A rollback by the server, such as a deadlock (SQLSTATE class 40): the connection is fine. */
function isRollback(error: unknown): boolean {
  return codeOf(error)?.startsWith('40') === true;
}

function unreachable(cause: unknown): LeadsyncError {
  return new LeadsyncError('database.unreachable', 'the database with the jobs cannot be reached', {
    retry: 'later',
    ...(isCertificateFault(cause) && { help: certificateHelp }),
    cause,
  });
}

/** An outage as `queue.unavailable`; any other error as it is. */
function unavailable(error: unknown): unknown {
  if (!(error instanceof ConnectionClosedError) && !isDatabaseOutage(error)) return error;
  return new LeadsyncError('queue.unavailable', 'the connection to the database with the jobs broke', {
    retry: 'later',
    help: 'Check that Postgres is running. Nothing is lost: the jobs go on when it is back.',
    cause: error,
  });
}

/** Turns outages into BullMQ's own error: only after that one it waits; after any other it retries at once, without end. */
function translatingOutages(pool: pg.Pool): PgPool {
  const translated = async (query: Promise<unknown>): Promise<unknown> => {
    try {
      return await query;
    } catch (error) {
      throw isDatabaseOutage(error) && !isRollback(error)
        ? new ConnectionClosedError(undefined, error)
        : error;
    }
  };
  const translating: unknown = {
    connect: () => translated(pool.connect()),
    query: (text: string, values?: unknown[]) => translated(pool.query(text, values)),
    end: () => pool.end(),
    on: (event: 'error', listener: (error: Error) => void) => pool.on(event, listener),
    options: pool.options,
  };
  // pg's types do not quite match the pool that BullMQ declares; its own check accepts the real one.
  if (!isPgPool(translating)) throw new TypeError('not a pool of pg');
  return translating;
}
