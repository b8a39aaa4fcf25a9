import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { describe, expect, test, vi } from 'vitest';
import { openDatabase } from '../../../src/store/database.ts';
import { startEmbeddedPostgres } from '../../../src/postgres/embedded-postgres.ts';
import { asNobody } from '../../support/programs.ts';
import {
  base,
  children,
  dataDir,
  listeningPorts,
  pidFile,
  query,
  serverPid,
  serversBelow,
  startChild,
  waiting,
  useScene,
} from './embedded-postgres-scene.ts';

useScene();

const impostorProgram = fileURLToPath(new URL('../../support/impostor-postgres.ts', import.meta.url));

describe('the embedded Postgres', () => {
  test('is created, found by a second process, and stopped by the last one; the data stays', async () => {
    const first = startChild();
    const { url = '' } = await first.said;
    await query(url, 'create table kept as select 7 as n');
    const pid = serverPid();

    const second = startChild();
    expect(await second.said).toEqual({ url });
    expect(serversBelow(base)).toEqual([pid]);

    await first.end();
    expect(await query(url, 'select n from kept')).toEqual([{ n: 7 }]);

    await second.end();
    expect(serversBelow(base)).toEqual([]);
    expect(existsSync(pidFile())).toBe(false);

    const again = await startEmbeddedPostgres(dataDir);
    expect(await query(again.connectionString, 'select n from kept')).toEqual([{ n: 7 }]);
    await again.close();
    await again.close();
    expect(serversBelow(base)).toEqual([]);
  });

  test('is private and safe: a socket in a folder of its owner alone, no port, no superuser, synced to disk', async () => {
    const server = await startEmbeddedPostgres(dataDir);
    const { username, password } = new URL(server.connectionString);
    expect(password).toBe(readFileSync(join(dataDir, 'postgres', 'password'), 'utf8'));
    expect(statSync(join(dataDir, 'postgres', 'password')).mode & 0o777).toBe(0o600);
    expect(statSync(join(dataDir, 'postgres')).mode & 0o777).toBe(0o700);
    expect(
      await query(
        server.connectionString,
        `select name, setting from pg_settings
         where name in ('fsync', 'listen_addresses', 'unix_socket_permissions') order by name`,
      ),
    ).toEqual([
      { name: 'fsync', setting: 'on' },
      { name: 'listen_addresses', setting: '' },
      { name: 'unix_socket_permissions', setting: '0700' },
    ]);
    expect(listeningPorts(serverPid())).toEqual([]);
    expect(readFileSync(`/proc/${serverPid()}/cmdline`, 'utf8')).not.toContain(password);
    expect(
      await query(server.connectionString, 'select rolsuper, rolname from pg_roles where rolname = user'),
    ).toEqual([{ rolsuper: false, rolname: username }]);
    await expect(
      query(server.connectionString, `create temp table t (l text); copy t from program 'id'`),
    ).rejects.toMatchObject({ code: '42501' });
    for (const [name, value] of [
      ['password', 'wrong'],
      ['username', 'postgres'],
    ] as const) {
      const url = new URL(server.connectionString);
      url[name] = value;
      await expect(query(url.href, 'select 1'), name).rejects.toMatchObject({
        code: expect.stringMatching(/^28/),
      });
    }
    await server.close();
  });

  test('another user cannot reach it, nor take its place after a crash and be told the password', {
    tags: ['setpriv', 'unshare'],
  }, async () => {
    chmodSync(base, 0o755);
    const server = await startEmbeddedPostgres(dataDir, { onFault: () => {} });
    const pool = openDatabase({ connectionString: server.connectionString });
    await pool.query('select 1');
    const folder = join(dataDir, 'postgres');
    expect(spawnSync(asNobody[0], [...asNobody.slice(1), 'ls', folder]).status).not.toBe(0);

    const [, , , port = ''] = readFileSync(pidFile(), 'utf8').split('\n');
    renameSync(folder, join(base, 'away'));
    process.kill(
      Number.parseInt(readFileSync(join(base, 'away/data/postmaster.pid'), 'utf8'), 10),
      'SIGKILL',
    );
    const impostor = spawn(asNobody[0], [...asNobody.slice(1), process.execPath, impostorProgram, port], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    children.push(impostor);
    let heard = '';
    impostor.stdout.on('data', (chunk) => (heard += String(chunk)));
    await vi.waitFor(() => expect(heard).toContain('listening'), waiting);
    for (let attempt = 0; attempt < 3; attempt += 1)
      await expect(pool.query('select 1')).rejects.toMatchObject({ code: 'database.unreachable' });
    expect(heard).not.toContain(new URL(server.connectionString).password);

    renameSync(join(base, 'away'), folder);
    await vi.waitFor(() => pool.query('select 1'), waiting);
    await pool.end();
    await server.close();
  });

  test.for([60, 200])('a path of %i bytes more than a socket may have', async (length) => {
    const long = join(base, 'd'.repeat(length), 'ü'.repeat(30), 'data');
    const server = await startEmbeddedPostgres(long, { durable: false });
    const pool = openDatabase({ connectionString: server.connectionString });
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    const other = await startEmbeddedPostgres(long, { durable: false });
    await pool.end();
    await server.close();
    expect(await query(other.connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);
    await other.close();
    expect(serversBelow(base)).toEqual([]);
  });

  test('several processes that start at once share one cluster and one server, which the last one stops', async () => {
    const processes = Array.from({ length: 4 }, () => startChild());
    const urls = await Promise.all(processes.map(async ({ said }) => (await said).url));
    expect(new Set(urls).size).toBe(1);
    expect(urls[0]).toMatch(/^postgres:/);
    expect(serversBelow(base)).toHaveLength(1);

    await Promise.all(processes.map((child) => child.end()));
    expect(serversBelow(base)).toEqual([]);
    expect(readdirSync(dataDir)).toEqual(['postgres']);
  });

  test('processes that come while the last one leaves always get a server', async () => {
    let leaving = await startEmbeddedPostgres(dataDir, { durable: false });
    for (let round = 0; round < 10; round += 1) {
      const [coming] = await Promise.all([
        startEmbeddedPostgres(dataDir, { durable: false }),
        leaving.close(),
      ]);
      expect(await query(coming.connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);
      leaving = coming;
    }
    await leaving.close();
    expect(serversBelow(base)).toEqual([]);
  });

  test('a process that comes when the last one is about to stop the server waits, and starts it again', async () => {
    const first = startChild();
    const { url = '' } = await first.said;
    const pid = serverPid();
    await first.kill();
    // What the last one does when it leaves, but slowly.
    const leaving = new pg.Client({ connectionString: url });
    leaving.on('error', () => {});
    await leaving.connect();
    await leaving.query('select pg_advisory_lock($1, $2)', [0x6c656164, 0x757365]);

    const second = startChild();
    const attempts = new Set<number>();
    await vi.waitFor(
      async () => {
        const { rows } = await leaving.query<{ pid: number }>(
          `select pid from pg_stat_activity where application_name = 'leadsync in use'`,
        );
        for (const row of rows) attempts.add(row.pid);
        expect(attempts.size).toBeGreaterThan(1);
      },
      { timeout: 30_000, interval: 1 },
    );
    process.kill(pid, 'SIGINT');
    await leaving.end();

    // It may have joined in the moment in which the server began to stop: then it starts it again.
    const { url: again = '' } = await second.said;
    await vi.waitFor(async () => expect(await query(again, 'select 1 as one')).toEqual([{ one: 1 }]), 30_000);
    expect(serverPid()).not.toBe(pid);
    await second.end();
    expect(serversBelow(base)).toEqual([]);
  });

  test('kill -9 of the only process that uses it: the server stays, holds none of its pipes, and is joined again', async () => {
    const first = startChild();
    const { url } = await first.said;
    const pid = serverPid();
    await first.kill();
    expect(serversBelow(base)).toEqual([pid]);

    const second = startChild();
    expect(await second.said).toEqual({ url });
    expect(serverPid()).toBe(pid);
    await second.end();
    expect(serversBelow(base)).toEqual([]);
  });

  test('kill -9 while the cluster is being made: the next start makes it', async () => {
    const first = startChild();
    await vi.waitFor(() => expect(readdirSync(dataDir)).not.toEqual([]), { timeout: 30_000, interval: 1 });
    await first.kill();

    mkdirSync(join(dataDir, 'postgres.new-left'));
    const server = await startEmbeddedPostgres(dataDir, { durable: false });
    expect(await query(server.connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(readdirSync(dataDir)).not.toContain('postgres.new-left');
    await server.close();
  });

  test('kill -9 of the server while it is in use: it comes back at the same place with the data', async () => {
    const server = await startEmbeddedPostgres(dataDir);
    const pool = openDatabase({ connectionString: server.connectionString });
    await pool.query('create table public.kept as select 7 as n');
    const pid = serverPid();
    process.kill(pid, 'SIGKILL');
    await vi.waitFor(async () => {
      // First this: for a moment, what is left of the old server still answers.
      expect(serverPid()).not.toBe(pid);
      expect((await pool.query('select n from public.kept')).rows).toEqual([{ n: 7 }]);
    }, waiting);
    await pool.end();
    await server.close();
    expect(serversBelow(base)).toEqual([]);
  });

  test('its folder is away and the server dies: it is tried again, each time told; with the folder it comes back', async () => {
    const told: string[] = [];
    const server = await startEmbeddedPostgres(dataDir, {
      onFault: ({ code }, againMs) => void told.push(`${code} ${againMs}`),
    });
    const pool = openDatabase({ connectionString: server.connectionString });
    await pool.query('create table public.kept as select 7 as n');
    const pid = serverPid();
    renameSync(join(dataDir, 'postgres'), join(base, 'away'));
    process.kill(pid, 'SIGKILL');
    await vi.waitFor(() => expect(told).toHaveLength(2), waiting);
    expect(told).toEqual(['database.not-started 1000', 'database.not-started 2000']);
    expect(readdirSync(dataDir), 'no other database was made').toEqual([]);

    renameSync(join(base, 'away'), join(dataDir, 'postgres'));
    await vi.waitFor(
      async () => expect((await pool.query('select n from public.kept')).rows).toEqual([{ n: 7 }]),
      waiting,
    );
    await pool.end();
    await server.close();
    expect(serversBelow(base)).toEqual([]);
  });

  test('kill -9 of the server and of its user: the next start repairs it', async () => {
    const child = startChild();
    const { url = '' } = await child.said;
    await query(url, 'create table kept as select 7 as n');
    await child.kill();
    process.kill(serverPid(), 'SIGKILL');

    const server = await startEmbeddedPostgres(dataDir, { durable: false });
    expect(await query(server.connectionString, 'select n from kept')).toEqual([{ n: 7 }]);
    await server.close();
  });
});
