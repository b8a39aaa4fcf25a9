import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, test } from 'vitest';
import { openDatabase } from '../../../src/store/database.ts';
import { administrate } from '../../support/administrate.ts';
import { createTestDatabase } from '../../support/database.ts';
import { until } from '../../support/until.ts';
import { isSynced, startWorker, yearly } from '../../support/worker.ts';
import { Workspace } from '../../support/workspace.ts';

/** A user who may log in and no more, and an empty database. */
async function poorUser() {
  await using stack = new AsyncDisposableStack();
  const server = inject('databaseUrl');
  const role = `user_${randomUUID().replaceAll('-', '')}`;
  await administrate(server, `create role ${role} login password 'a-password-of-his'`);
  stack.defer(() => administrate(server, `drop role ${role}`));
  const database = stack.adopt(await createTestDatabase({ empty: true }), (made) => made.drop());
  const url = new URL(database.url);
  [url.username, url.password] = [role, 'a-password-of-his'];
  const owned = stack.move();
  return { role, database, url: url.href, server, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

test('no right to make schemas: a sentence with the SQL for the DBA; with it the worker works, jobs in the database too', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 3 }, connection: { sync: yearly } });
  await using poor = await poorUser();
  const env = { DATABASE_URL: poor.url };
  const refused = await workspace.start(['sync'], { env }).ended;
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('[database.forbidden]');
  const statements = /create schema [^]*?owner to \w+; create schema [^]*?owner to \w+;/.exec(
    refused.stderr,
  )?.[0];
  expect(statements).toContain(poor.role);
  await poor.database.pool.query(statements?.replaceAll(/\s+/g, ' ') ?? '');
  const { process } = await startWorker(workspace, env);
  await until('it has synced', async () => {
    const { rowCount } = await poor.database.pool.query(
      `select from leadsync.runs where status = 'succeeded'`,
    );
    return rowCount === 1;
  });
  expect((await process.kill('SIGTERM')).code).toBe(0);
});

test('sessions that a provider ends when they are idle, and statements that it ends when they are long: nothing of it is told, nothing ends', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 3 }, connection: { sync: yearly } });
  const { pool, url } = workspace.database;
  const name = new URL(url).pathname.slice(1);
  for (const [setting, value] of [
    ['idle_session_timeout', '1s'],
    ['statement_timeout', '100ms'],
    ['lock_timeout', '100ms'],
  ])
    await pool.query(`alter database ${name} set ${setting} = '${value}'`);
  const own = openDatabase({ connectionString: url, max: 1 });
  await own.query('select pg_sleep(0.3)');
  await own.end();
  const { process } = await startWorker(workspace);
  await until('it has synced', () => isSynced(workspace));
  await sleep(4_000);
  expect(process.stderr).not.toContain('unavailable');
  expect((await process.kill('SIGTERM')).code).toBe(0);
  expect(process.stderr).not.toMatch(/"level":[45]0/);
});
