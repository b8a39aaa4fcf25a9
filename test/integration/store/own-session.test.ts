import { inject, expect, test } from 'vitest';
import { openDatabase } from '../../../src/store/database.ts';
import { assertOwnSession } from '../../../src/store/own-session.ts';
import { type PoolerKind, startPooler } from '../../support/pooler.ts';

const url = inject('databaseUrl');

async function ask(kind: PoolerKind): Promise<void> {
  await using pooler = await startPooler(url, kind);
  const pool = openDatabase({ connectionString: pooler.url });
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
