import { createPostgresBackend, isPgPool, withBackend } from 'bullmq';
import pg from 'pg';

const { Queue: PostgresQueue } = withBackend(createPostgresBackend);

/** A queue as BullMQ has it, for what the product has no need of. */
interface RawQueue extends AsyncDisposable {
  /** All delayed jobs are due. */
  promote(): Promise<void>;
}

export function openRawQueue(name: string, databaseUrl: string): RawQueue {
  const pool: unknown = new pg.Pool({ connectionString: databaseUrl, options: '-c search_path=bullmq' });
  if (!isPgPool(pool)) throw new TypeError('not a pool of pg');
  const queue = new PostgresQueue(name, { connection: pool });
  return {
    promote: () => queue.promoteJobs(),
    async [Symbol.asyncDispose]() {
      await queue.close();
      await pool.end();
    },
  };
}
