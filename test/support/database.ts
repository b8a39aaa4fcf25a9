import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';
import { openDatabase } from '../../src/store/database.ts';
import { startEmbeddedPostgres } from '../../src/store/embedded-postgres.ts';
import { migrate } from '../../src/store/migrate.ts';
import { administrate } from './administrate.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The server that all tests of a run share; each test makes its own database in it. */
    databaseUrl: string;
  }
}

/** vitest's globalSetup: one Postgres for the whole run, gone with its folder afterwards. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-test-'));
  // Where root may not make user namespaces, Postgres runs as another user, who has to reach the folder.
  await chmod(folder, 0o755);
  const server = await startEmbeddedPostgres(folder, { durable: false });
  project.provide('databaseUrl', server.connectionString);
  return async () => {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  };
}

export interface TestDatabase {
  readonly url: string;
  /** As the product opens it, with all migrations done. */
  readonly pool: pg.Pool;
  /** Closes the pool and removes the database, also under connections that are still open. */
  drop(): Promise<void>;
}

/** A fresh, migrated database; `migrated: false` leaves it empty. */
export async function createTestDatabase({ migrated = true } = {}): Promise<TestDatabase> {
  const server = inject('databaseUrl');
  const name = `test_${randomBytes(8).toString('hex')}`;
  await administrate(server, `create database ${name} template template0`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const pool = openDatabase({ connectionString: url.href });
  if (migrated) await migrate(pool);
  return {
    url: url.href,
    pool,
    async drop() {
      await pool.end();
      await administrate(server, `drop database ${name} with (force)`);
    },
  };
}
