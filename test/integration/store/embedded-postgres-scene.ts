import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, expect, vi } from 'vitest';
import { startEmbeddedPostgres } from '../../../src/postgres/embedded-postgres.ts';
import { isInstalled } from '../../support/programs.ts';

const program = fileURLToPath(new URL('../../support/embedded-postgres-child.ts', import.meta.url));
const isRoot = process.getuid?.() === 0;
const canNamespace = isInstalled('unshare');
export const waiting = { timeout: 30_000, interval: 50 };

/** A private folder for each test, the data folder in it, and the processes that were started: killed and deleted after it. */
export let base: string;
export let dataDir: string;
export let children: ChildProcess[];

/** To be called by each file: what a module does when it is loaded is done for the first file of a worker alone. */
export function useScene(): void {
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
}

/** Process ids of the servers whose cluster is below this folder, without their children. */
export function serversBelow(folder: string): number[] {
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

/** TCP ports on which a process listens. */
export function listeningPorts(pid: number): number[] {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).map(
      (fd) => /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1],
    ),
  );
  const lines = ['tcp', 'tcp6'].flatMap((name) => readFileSync(`/proc/net/${name}`, 'utf8').split('\n'));
  return lines.flatMap((line) => {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
    return state === '0A' && sockets.has(inode) ? [Number.parseInt(local.split(':')[1] ?? '', 16)] : [];
  });
}

export function serverPid(): number {
  return Number.parseInt(readFileSync(pidFile(), 'utf8'), 10);
}

export function pidFile(): string {
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

export function startChild(prefix: readonly string[] = []): Child {
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

export async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

/** A child that is root, with all users there are, where user namespaces are switched off as in many containers. */
export async function startWithoutNamespaces(): Promise<Child> {
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
export async function startWithPidFile(content: string): Promise<void> {
  writeFileSync(pidFile(), content);
  const server = await startEmbeddedPostgres(dataDir, { durable: false });
  expect(serversBelow(base)).toEqual([serverPid()]);
  expect(await query(server.connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);
  await server.close();
  expect(serversBelow(base)).toEqual([]);
}
