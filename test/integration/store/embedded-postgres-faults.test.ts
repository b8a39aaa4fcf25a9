import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, inject, test } from 'vitest';
import { asNobody } from '../../support/programs.ts';
import { startEmbeddedPostgres } from '../../../src/postgres/embedded-postgres.ts';
import { loadPostgresBinaries } from '../../../src/postgres/postgres-binaries.ts';
import {
  base,
  children,
  dataDir,
  pidFile,
  query,
  serverPid,
  serversBelow,
  startChild,
  startWithoutNamespaces,
  startWithPidFile,
  useScene,
} from './embedded-postgres-scene.ts';

useScene();

describe('the embedded Postgres', () => {
  describe('a left-over pid file', () => {
    let old: string[];

    beforeEach(async () => {
      const server = await startEmbeddedPostgres(dataDir, { durable: false });
      old = readFileSync(pidFile(), 'utf8').split('\n');
      await server.close();
    });

    test('that names a process which is gone', () => startWithPidFile(old.join('\n')));

    test('that names a living process of another program', async () => {
      // Not this process: Postgres knows by itself that its parent is no other server.
      const other = spawn(process.execPath, ['-e', 'process.stdin.resume()'], {
        stdio: ['pipe', 'ignore', 'inherit'],
      });
      children.push(other);
      await once(other, 'spawn');
      await startWithPidFile([String(other.pid), ...old.slice(1)].join('\n'));
    });

    test("that names somebody else's Postgres and its port", async () => {
      const other = inject('databaseUrl');
      const [row] = await query(other, `select current_setting('data_directory') as folder`);
      await startWithPidFile(readFileSync(join(String(row?.['folder']), 'postmaster.pid'), 'utf8'));
      expect(await query(other, 'select 1 as one')).toEqual([{ one: 1 }]);
    });

    test('that is empty', () => startWithPidFile(''));
  });

  describe('for root', { tags: 'setpriv' }, () => {
    test('and for an ordinary user', async () => {
      chownSync(base, 65_534, 65_534);
      const first = startChild(asNobody);
      const { url = '' } = await first.said;
      expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
      // Root joins it, and later starts it, without taking the files away from their owner.
      const second = startChild();
      expect(await second.said).toEqual({ url });
      await first.end();
      await second.end();
      expect(serversBelow(base)).toEqual([]);
      for (const prefix of [[], asNobody]) {
        const next = startChild(prefix);
        expect(await next.said).toHaveProperty('url');
        await next.end();
      }
    });

    test('who may not make user namespaces: runs as the user postgres or nobody', {
      tags: 'unshare',
    }, async () => {
      chmodSync(base, 0o755);
      const child = await startWithoutNamespaces();
      const said = await child.said;
      expect(said).toHaveProperty('url');
      expect(await query(said.url ?? '', 'select 1 as one')).toEqual([{ one: 1 }]);
      expect(statSync(`/proc/${serverPid()}`).uid).not.toBe(0);
      await child.end();
      expect(serversBelow(base)).toEqual([]);
    });

    test('who may not make user namespaces, in a private folder: says what to do', {
      tags: 'unshare',
    }, async () => {
      const child = await startWithoutNamespaces();
      expect(await child.said).toEqual({
        code: 'database.not-writable',
        message: expect.stringContaining('cannot run as root'),
        help: expect.stringMatching(/DATA_DIR.*DATABASE_URL/),
      });
      await child.end();
      expect(readdirSync(dataDir)).toEqual([]);
    });
  });

  describe('says what is wrong', () => {
    test('the place is a file', async () => {
      writeFileSync(dataDir, 'not a folder');
      await expect(startEmbeddedPostgres(dataDir)).rejects.toMatchObject({
        code: 'database.not-writable',
        help: expect.stringMatching(/DATA_DIR.*DATABASE_URL/),
      });
      expect(readFileSync(dataDir, 'utf8')).toBe('not a folder');
    });

    test('the folder belongs to somebody else', { tags: 'setpriv' }, async () => {
      chmodSync(base, 0o755);
      const child = startChild(asNobody);
      expect(await child.said).toMatchObject({
        code: 'database.not-writable',
        help: expect.stringContaining('DATA_DIR'),
      });
    });

    test('the disk is full', { tags: 'mount' }, async () => {
      mkdirSync(dataDir);
      const inside = 'mount -t tmpfs -o size=20m none "$0" && exec "$@"';
      const child = startChild(['unshare', '--mount', 'sh', '-c', inside, dataDir]);
      expect(await child.said).toMatchObject({
        code: 'database.disk-full',
        help: expect.stringContaining('DATA_DIR'),
      });
    });

    test('no Postgres for this machine', async () => {
      await expect(loadPostgresBinaries('plan9-mips')).rejects.toMatchObject({
        code: 'database.unsupported-platform',
        message: expect.stringContaining('@embedded-postgres/plan9-mips'),
        help: expect.stringContaining('DATABASE_URL'),
      });
    });

    test('the cluster is of another major version', async () => {
      await (await startEmbeddedPostgres(dataDir, { durable: false })).close();
      writeFileSync(join(dataDir, 'postgres', 'data', 'PG_VERSION'), '12\n');
      await expect(startEmbeddedPostgres(dataDir)).rejects.toMatchObject({
        code: 'database.other-version',
        message: expect.stringContaining('Postgres 12'),
        help: expect.stringContaining('pg_dump'),
      });
    });

    test('the server does not come up: the end of its log', async () => {
      await (await startEmbeddedPostgres(dataDir, { durable: false })).close();
      writeFileSync(join(dataDir, 'postgres', 'data', 'postgresql.conf'), 'work_mem = sehr viel\n');
      await expect(startEmbeddedPostgres(dataDir)).rejects.toMatchObject({
        code: 'database.not-started',
        message: expect.stringContaining('postgresql.conf'),
        help: expect.stringContaining('server.log'),
      });
    });
  });
});
