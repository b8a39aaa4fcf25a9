import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
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

test('a certificate by a CA of its own: the message names the two settings that help', {
  tags: 'openssl',
}, async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-tls-'));
  stack.defer(() => rm(folder, { recursive: true }));
  const [key, cert] = ['key', 'crt'].map((name) => join(folder, name)) as [string, string];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...subject];
  execFileSync('openssl', [...made, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      // To an SSLRequest: yes.
      socket.write('S');
      new TLSSocket(socket, { isServer: true, key: readFileSync(key), cert: readFileSync(cert) }).on(
        'error',
        () => {},
      );
    });
  });
  server.listen(0, 'localhost');
  await once(server, 'listening');
  stack.defer(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const pool = openDatabase({ connectionString: `postgres://a:b@localhost:${port}/x?sslmode=verify-full` });
  stack.defer(() => pool.end());
  const help: unknown = expect.stringMatching(/sslrootcert=.*NODE_EXTRA_CA_CERTS=/);
  await expect(pool.query('select 1')).rejects.toMatchObject({ code: 'database.unreachable', help });
});

test('a server without TLS that the address asks for: lines of JSON alone', async () => {
  await using workspace = await Workspace.open({ connection: { sync: yearly } });
  const env = { DATABASE_URL: `${workspace.database.url}?sslmode=require` };
  const { code, stderr } = await workspace.start(['worker'], { env }).ended;
  expect(code).toBe(1);
  expect(stderr).toContain('database.unreachable');
  expect(stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'))).toEqual([]);
});
