import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { freePort } from './mail-server.ts';
import type { Program } from './programs.ts';

/** Where jobs are kept, and what a test there needs. */
export const jobPlaces: Readonly<Record<'Postgres' | 'Redis', Program[]>> = {
  Postgres: [],
  Redis: ['redis-server'],
};

export interface TestRedis extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Its folder, gone when it is disposed. */
  readonly folder: string;
  /** Sends one command on a connection of its own. */
  command(...args: string[]): Promise<unknown>;
  /** SIGKILL. Without an append-only file it forgets everything. */
  kill(): Promise<void>;
  /** Again, with the same port and folder, when it takes connections. */
  start(): Promise<void>;
}

interface TestRedisOptions {
  readonly appendOnly?: boolean;
  /** More arguments of redis-server, such as `--requirepass`, `x`. */
  readonly args?: readonly string[];
  /** What stands before the port in `url`. */
  readonly origin?: string;
  /** Which option takes the port: `--tls-port` for TLS, which `command` does not speak. */
  readonly portOption?: string;
}

/** A real Redis for one test, which keeps nothing on disk unless it is asked to. */
export async function startRedis({
  appendOnly = false,
  args = [],
  origin = 'redis://127.0.0.1',
  portOption = '--port',
}: TestRedisOptions = {}): Promise<TestRedis> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-redis-'));
  const options = [portOption, String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
  let child: ChildProcess | null = null;
  const redis: TestRedis = {
    url: `${origin}:${port}`,
    port,
    folder,
    command: (...command) => sendCommand(port, command),
    async kill() {
      if (child === null || child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
    async start() {
      child = spawn('redis-server', [...options, '--appendonly', appendOnly ? 'yes' : 'no', ...args], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await ready(child);
    },
    async [Symbol.asyncDispose]() {
      await redis.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
  await redis.start();
  return redis;
}

/** On a connection of its own to a server on this machine. */
export async function sendCommand(port: number, [name = '', ...args]: readonly string[]): Promise<unknown> {
  const client = new Redis({ port, host: '127.0.0.1', lazyConnect: true, retryStrategy: null });
  // The sender of the command gets the error.
  client.on('error', () => {});
  try {
    return await client.call(name, ...args);
  } finally {
    client.disconnect();
  }
}

/** Waits for the line with which redis-server and redis-sentinel say that they take connections. */
export async function ready({ stdout }: ChildProcess): Promise<void> {
  if (stdout === null) return;
  let said = '';
  for await (const line of createInterface({ input: stdout })) {
    said += `${line}\n`;
    if (!/Ready to accept connections|Sentinel ID is/.test(line)) continue;
    // It goes on talking, to nobody.
    stdout.resume();
    return;
  }
  throw new Error(`redis-server did not start:\n${said}`);
}
