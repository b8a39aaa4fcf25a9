import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { pino } from 'pino';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';
import { z } from 'zod';
import { openQueues } from '../../src/queue/queue.ts';
import { openDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { administrate } from './administrate.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The server that all tests of a run share; each test makes its own database in it. */
    databaseUrl: string;
  }
}

/**
 * vitest's globalSetup: one Postgres for the whole run, and a folder of its own for temporary files; run-keeper.ts removes both.
 * `TEST_DATABASE_URL` names a server of another version instead, whose user may create databases.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const keeper = spawn(process.execPath, [fileURLToPath(new URL('run-keeper.ts', import.meta.url))], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(keeper, 'exit');
  const [line] = (await Promise.race([once(keeper.stdout, 'data'), ended])) as [unknown];
  const { databaseUrl, temporary } = kept.parse(JSON.parse(String(line)));
  process.env['TMPDIR'] = temporary;
  await administrate(databaseUrl, `drop database if exists ${template}`);
  await makeTemplate(databaseUrl);
  project.provide('databaseUrl', databaseUrl);
  return async () => {
    await administrate(databaseUrl, `drop database ${template}`);
    keeper.stdin.end('done\n');
    await ended;
  };
}

const kept = z.object({ databaseUrl: z.string(), temporary: z.string() });

export interface TestDatabase {
  readonly url: string;
  /** As the product opens it, with all migrations done. */
  readonly pool: pg.Pool;
  /** Closes the pool and removes the database, also under connections that are still open. */
  drop(): Promise<void>;
}

/** A plain pool. The end of a test removes its database while connections that were ended may not be closed yet. */
export function openPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString });
  pool.on('error', () => {});
  return pool;
}

/** Has the tables of the state and of the queues: a copy of it is there in a fraction of the time. */
const template = 'leadsync_template';

async function makeTemplate(server: string): Promise<void> {
  await administrate(server, `create database ${template} template template0`);
  const connectionString = urlOf(server, template);
  const pool = openDatabase({ connectionString });
  await migrate(pool);
  await pool.end();
  const queues = await openQueues({ kind: 'postgres', connectionString }, pino({ level: 'silent' }), 1);
  await queues[Symbol.asyncDispose]();
}

function urlOf(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** A fresh, migrated database, or one with nothing in it. */
export async function createTestDatabase({ empty = false } = {}): Promise<TestDatabase> {
  const server = inject('databaseUrl');
  const name = `test_${randomBytes(8).toString('hex')}`;
  const from = empty ? 'template0' : template;
  // Files are copied faster than written to the log block by block; versions before 15 have no choice.
  const strategy = process.env['TEST_DATABASE_URL'] === undefined ? 'strategy file_copy' : '';
  await administrate(server, `create database ${name} template ${from} ${strategy}`);
  const url = urlOf(server, name);
  const pool = openDatabase({ connectionString: url });
  return {
    url,
    pool,
    async drop() {
      await pool.end();
      await administrate(server, `drop database ${name} with (force)`);
    },
  };
}
