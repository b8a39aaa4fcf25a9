import { inject, expect, test } from 'vitest';
import { assertOwnSession, openDatabase } from '../../../src/store/database.ts';
import { createTestDatabase } from '../../support/database.ts';
import { startPgBouncer } from '../../support/pgbouncer.ts';
import { type PoolerKind, startPooler } from '../../support/pooler.ts';

const url = inject('databaseUrl');

async function ask(kind: PoolerKind): Promise<void> {
  await using pooler = await startPooler(url, kind);
  await askAt(pooler.url);
}

async function askAt(connectionString: string): Promise<void> {
  const pool = openDatabase({ connectionString });
  try {
    // Twice: a session that was given back comes again.
    await assertOwnSession(pool);
    await assertOwnSession(pool);
  } finally {
    await pool.end();
  }
}

test.each([
  ['transaction', 'gives each transaction another session'],
  ['settings-dropped', 'does not pass on session settings'],
  ['settings-refused', 'refuses session settings'],
] as const)('a pooler is refused by name: %s', async (kind, why) => {
  await expect(ask(kind)).rejects.toMatchObject({
    code: 'config.database-pooler',
    message: expect.stringContaining(why),
    help: expect.stringContaining('DATABASE_URL'),
  });
});

test('a pooler that keeps a session for each connection, with its settings, is none to be refused', async () => {
  await expect(ask('session')).resolves.toBeUndefined();
});

test.each([
  ['refuses session settings', { pool_mode: 'transaction' }],
  ['refuses session settings', { pool_mode: 'session' }],
  ['does not pass on session settings', { pool_mode: 'session', ignore_startup_parameters: 'options' }],
  ['does not pass on session settings', { pool_mode: 'transaction', ignore_startup_parameters: 'options' }],
] as const)('PgBouncer itself is refused by name: %s, %o', { tags: 'pgbouncer' }, async (why, settings) => {
  await using pooler = await startPgBouncer(url, settings);
  await expect(askAt(pooler.url)).rejects.toMatchObject({
    code: 'config.database-pooler',
    message: expect.stringContaining(why),
  });
});

test('PgBouncer in transaction mode is refused also where the database has the settings by default', {
  tags: 'pgbouncer',
}, async () => {
  const database = await createTestDatabase({ empty: true });
  const name = new URL(database.url).pathname.slice(1);
  await database.pool.query(`alter database ${name} set idle_in_transaction_session_timeout = '1min'`);
  try {
    await using pooler = await startPgBouncer(database.url, {
      pool_mode: 'transaction',
      ignore_startup_parameters: 'options',
    });
    await expect(askAt(pooler.url)).rejects.toMatchObject({
      code: 'config.database-pooler',
      message: expect.stringContaining('gives each transaction another session'),
    });
  } finally {
    await database.drop();
  }
});
