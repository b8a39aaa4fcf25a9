import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { openDatabase } from '../../../src/store/database.ts';
import { startEmbeddedPostgres } from '../../../src/embedded-postgres/embedded-postgres.ts';
import { loadPostgresBinaries } from '../../../src/embedded-postgres/postgres-binaries.ts';

const program = fileURLToPath(new URL('../../support/embedded-postgres-child.ts', import.meta.url));
const isRoot = process.getuid?.() === 0;
const asNobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
/** Whether an ordinary user can run this checkout at all; not when it is below a private folder. */
const nobodyCanRun =
  isRoot &&
  succeeds([...asNobody, 'test', '-r', program]) &&
  succeeds([...asNobody, process.execPath, '--version']);
/** Whether root may do here what many containers forbid it. */
const canNamespace = isRoot && succeeds(['unshare', '--user', '--map-user=65534', 'true']);
const canMount = isRoot && succeeds(['unshare', '--mount', 'true']);
const waiting = { timeout: 30_000, interval: 50 };

let base: string;
let dataDir: string;
let children: ChildProcess[];

beforeEach(() => {
  // A private folder (0700), a space and umlauts: none of these may matter.
  base = mkdtempSync(join(tmpdir(), 'leadsync für Ö '));
  if (isRoot && !canNamespace) chmodSync(base, 0o755);
  dataDir = join(base, 'my data');
  children = [];
});

afterEach(async () => {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  for (const pid of serversBelow(base)) process.kill(pid, 'SIGKILL');
  await vi.waitFor(() => rmSync(base, { recursive: true, force: true }), waiting);
});

function succeeds([file = '', ...args]: string[]): boolean {
  return spawnSync(file, args, { stdio: 'ignore' }).status === 0;
}

/** Process ids of the servers whose cluster is below this folder, without their children. */
function serversBelow(folder: string): number[] {
  return commandLines()
    .filter(({ args }) => args.includes(`/postgres -D ${folder}`))
    .map(({ pid }) => pid);
}

function commandLines(): { pid: number; args: string }[] {
  if (process.platform !== 'linux') {
    const lines = execFileSync('ps', ['-ww', '-A', '-o', 'pid=,args='], { encoding: 'utf8' }).split('\n');
    return lines.map((args) => ({ pid: Number.parseInt(args, 10), args }));
  }
  return readdirSync('/proc').flatMap((name) => {
    try {
      const args = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
      return [{ pid: Number(name), args }];
    } catch {
      // Not a process, or one that has ended.
      return [];
    }
  });
}

function serverPid(): number {
  return Number.parseInt(readFileSync(pidFile(), 'utf8'), 10);
}

function pidFile(): string {
  return join(dataDir, 'postgres', 'data', 'postmaster.pid');
}

interface Child {
  readonly process: ChildProcess;
  /** The line it printed. */
  readonly said: Promise<{ url?: string; code?: string; message?: string; help?: string }>;
  /** Lets it end by itself. */
  end(): Promise<void>;
  /** Kills it, and waits until all its pipes are closed, so until no process holds them any more. */
  kill(): Promise<void>;
}

function startChild(prefix: readonly string[] = []): Child {
  const [file, ...args] = [...prefix, process.execPath, program, dataDir];
  const child = spawn(file ?? '', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  const closed = once(child, 'close');
  const said = once(child.stdout, 'data').then(([line]) => JSON.parse(String(line)));
  return {
    process: child,
    said,
    async end() {
      child.stdin.end();
      expect(await closed).toEqual([0, null]);
    },
    async kill() {
      child.kill('SIGKILL');
      await closed;
    },
  };
}

async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

/** A child that is root, with all users there are, where user namespaces are switched off as in many containers. */
async function startWithoutNamespaces(): Promise<Child> {
  const inside = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"';
  const outside = `read mapped && exec sh -c '${inside}' sh "$@"`;
  const child = startChild(['unshare', '--user', 'sh', '-c', outside, 'sh']);
  const { pid } = child.process;
  // Refused until the child is in its namespace.
  await vi.waitFor(() => writeFileSync(`/proc/${pid}/uid_map`, '0 0 65536'), waiting);
  writeFileSync(`/proc/${pid}/gid_map`, '0 0 65536');
  child.process.stdin?.write('mapped\n');
  return child;
}

/** Starts and stops the server after its pid file was replaced. */
async function startWithPidFile(content: string): Promise<void> {
  writeFileSync(pidFile(), content);
  const server = await startEmbeddedPostgres(dataDir, { durable: false });
  const [row] = await query(server.connectionString, `select current_setting('data_directory') as folder`);
  expect(row).toEqual({ folder: join(dataDir, 'postgres', 'data') });
  await server.close();
  expect(serversBelow(base)).toEqual([]);
}

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

  test('is private and safe: password in a file of its owner alone, loopback only, synced to disk', async () => {
    const server = await startEmbeddedPostgres(dataDir);
    const url = new URL(server.connectionString);
    expect(url.password).toBe(readFileSync(join(dataDir, 'postgres', 'password'), 'utf8'));
    expect(statSync(join(dataDir, 'postgres', 'password')).mode & 0o777).toBe(0o600);
    expect(statSync(join(dataDir, 'postgres')).mode & 0o777).toBe(0o700);
    expect(
      await query(
        server.connectionString,
        `select name, setting from pg_settings
         where name in ('fsync', 'listen_addresses', 'unix_socket_directories') order by name`,
      ),
    ).toEqual([
      { name: 'fsync', setting: 'on' },
      { name: 'listen_addresses', setting: '127.0.0.1' },
      { name: 'unix_socket_directories', setting: '' },
    ]);
    url.password = 'wrong';
    await expect(query(url.href, 'select 1')).rejects.toMatchObject({ code: '28P01' });
    await server.close();
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

    expect(await query((await second.said).url ?? '', 'select 1 as one')).toEqual([{ one: 1 }]);
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

  describe.runIf(isRoot)('for root', () => {
    test.runIf(nobodyCanRun)('and for an ordinary user', async () => {
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

    test.runIf(nobodyCanRun && canNamespace)(
      'who may not make user namespaces: runs as the user postgres or nobody',
      async () => {
        chmodSync(base, 0o755);
        const child = await startWithoutNamespaces();
        const said = await child.said;
        expect(said).toHaveProperty('url');
        expect(await query(said.url ?? '', 'select 1 as one')).toEqual([{ one: 1 }]);
        expect(statSync(`/proc/${serverPid()}`).uid).not.toBe(0);
        await child.end();
        expect(serversBelow(base)).toEqual([]);
      },
    );

    test.runIf(nobodyCanRun && canNamespace)(
      'who may not make user namespaces, in a private folder: says what to do',
      async () => {
        const child = await startWithoutNamespaces();
        expect(await child.said).toEqual({
          code: 'database.not-writable',
          message: expect.stringContaining('cannot run as root'),
          help: expect.stringMatching(/DATA_DIR.*DATABASE_URL/),
        });
        await child.end();
        expect(readdirSync(dataDir)).toEqual([]);
      },
    );
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

    test.runIf(nobodyCanRun)('the folder belongs to somebody else', async () => {
      chmodSync(base, 0o755);
      const child = startChild(asNobody);
      expect(await child.said).toMatchObject({
        code: 'database.not-writable',
        help: expect.stringContaining('DATA_DIR'),
      });
    });

    test.runIf(canMount)('the disk is full', async () => {
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
