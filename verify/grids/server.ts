import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Start } from './grid.ts';

// oxlint-disable-next-line node/no-process-env -- what programs are found by
export const path = process.env['PATH'];

const readyWithinMs = 180_000;
const stopsWithinMs = 10_000;
const pollMs = 250;
const callMs = 120_000;

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Runs a program to its end. Throws with the end of what it wrote. */
export async function runToEnd(start: Start, args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const { ended, tail } = begin(start, args, env);
  if ((await ended) !== 0) throw new Error(`${args.join(' ')} failed: ${await tail()}`);
}

/** Starts a server, which is stopped with the stack; resolves when `isReady` says so. */
export async function serve(
  start: Start,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  isReady: () => Promise<boolean>,
): Promise<void> {
  const { ended, tail } = begin(start, args, env);
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  const deadline = Date.now() + readyWithinMs;
  while (!(await isReady().catch(() => false))) {
    if (hasEnded || Date.now() > deadline) throw new Error(`It does not start: ${await tail()}`);
    await sleep(pollMs, undefined, { signal: start.signal });
  }
}

/** In a process group of its own: Ctrl+C reaches us alone, and we end all of it. */
function begin({ home, stack, signal }: Start, args: readonly string[], env: NodeJS.ProcessEnv) {
  signal.throwIfAborted();
  const log = join(home, 'program.log');
  const child = spawn(process.execPath, args, {
    cwd: home,
    env: { PATH: path, HOME: home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const written = createWriteStream(log, { flags: 'a' });
  child.stdout.pipe(written, { end: false });
  child.stderr.pipe(written, { end: false });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  const tell = (name: NodeJS.Signals): void => {
    // Its number may be somebody else's once it has ended.
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, name);
  };
  stack.defer(async () => {
    tell('SIGTERM');
    const hurry = setTimeout(() => tell('SIGKILL'), stopsWithinMs);
    await ended.catch(() => {});
    clearTimeout(hurry);
    written.end();
  });
  return { ended, tail: async () => (await readFile(log, 'utf8').catch(() => '')).slice(-1_500) };
}

/** JSON of an answer; null for none. Throws with the status and what was said, unless it is 2xx. */
export type Call = (method: string, path: string, body?: unknown) => Promise<unknown>;

export function caller(base: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Call {
  return async (method, path, body) => {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(callMs)]),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 500)}`);
    return text === '' ? null : (JSON.parse(text) as unknown);
  };
}
