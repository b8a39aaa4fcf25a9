import { expect, onTestFinished, test } from 'vitest';
import { MailSender } from '../../../src/store/mail-ledger.ts';
import { createTestDatabase } from '../../support/database.ts';
import { until } from '../../support/until.ts';

test('lanes that ask at once after the lease was lost get one new token, and one lease is held', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const { pool } = database;
  await using sender = new MailSender(pool);
  const before = await sender.token();
  await pool.query(`select pg_terminate_backend(backend_pid) from leases where token = $1`, [before]);
  let tokens: readonly string[] = [];
  await until('the lease is lost', async () => {
    tokens = await Promise.all([sender.token(), sender.token(), sender.token()]);
    return !tokens.includes(before);
  });
  expect(new Set(tokens).size).toBe(1);
  const { rows } = await pool.query<{ token: string }>(
    `select token from leases where name like 'mails %' and token <> $1`,
    [before],
  );
  expect(rows).toEqual([{ token: tokens[0] }]);
});
