import { randomUUID } from 'node:crypto';
import { constants, readFileSync, readlinkSync } from 'node:fs';
import { open, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { LeadsyncError } from '../../errors.ts';
import { hasCode, writeFault } from './file-fault.ts';

/** How often a holder shows that it lives, and after which silence one that we cannot look at counts as dead. */
const heartbeatMs = 2_000;
const silenceMs = 20_000;

const holderSchema = z.object({
  token: z.string(),
  pid: z.number().int().positive(),
  machine: z.string(),
  /** When the process started, in the kernel's own count; null where it does not tell. */
  started: z.string().nullable(),
});
type Holder = z.infer<typeof holderSchema>;

/** Bytes. */
const longestHolder = 4096;

export interface FileLock extends AsyncDisposable {
  /** @throws LeadsyncError `target.busy` when another process took the lock for abandoned: write nothing any more. */
  assertHeld(): Promise<void>;
}

/** Where the lock of a file lies: beside it, so that all processes that can write the file see it. */
export function lockPathOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.leadsync-lock`);
}

/**
 * Takes the lock against a second writer of `path`; released by disposal. A lock whose holder was killed is taken
 * over: at once when it ran on this machine, otherwise 20 s after its last sign of life. Two processes that take
 * over the same one can both believe to hold it for a moment: ask `assertHeld` just before the decisive step.
 * @throws LeadsyncError `target.busy` (retry later) when another writer holds it, `target.not-writable` and
 * `target.disk-full` when it cannot be made.
 */
export async function lockFile(path: string): Promise<FileLock> {
  const lockPath = lockPathOf(path);
  const self: Holder = {
    token: randomUUID(),
    pid: process.pid,
    machine: machineName(),
    started: processStart(process.pid),
  };
  for (let attempt = 0; attempt < 3; attempt++) {
    if (await create(lockPath, self, path)) return heldLock(lockPath, self.token, path);
    const abandoned = await isAbandoned(lockPath);
    if (!abandoned) break;
    await rm(lockPath, { force: true }).catch((error: unknown) => {
      throw writeFault(error, path);
    });
  }
  throw heldByOther(path);
}

function heldByOther(path: string): LeadsyncError {
  return new LeadsyncError(
    'target.busy',
    `Another leadsync process is writing ${path}. Nothing was written.`,
    {
      retry: 'later',
      retryAfterMs: 5_000,
    },
  );
}

async function create(lockPath: string, self: Holder, path: string): Promise<boolean> {
  try {
    await writeFile(lockPath, JSON.stringify(self), { flag: 'wx' });
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    if (hasCode(error, 'ENOSPC', 'EDQUOT', 'EFBIG')) await rm(lockPath, { force: true });
    throw writeFault(error, path);
  }
}

function heldLock(lockPath: string, token: string, path: string): FileLock {
  const showLife = (): void => {
    // By the clock that others look at it with, which may be neither this machine's nor the disk's.
    const seconds = Date.now() / 1_000;
    // A lock that is gone is noticed by assertHeld, where it matters.
    utimes(lockPath, seconds, seconds).catch(() => undefined);
  };
  showLife();
  const heartbeat = setInterval(showLife, heartbeatMs).unref();
  const isHeld = async () => (await readHolder(lockPath))?.token === token;
  return {
    async assertHeld() {
      if (!(await isHeld())) throw heldByOther(path);
    },
    async [Symbol.asyncDispose]() {
      clearInterval(heartbeat);
      if (await isHeld()) await rm(lockPath, { force: true });
    },
  };
}

async function isAbandoned(lockPath: string): Promise<boolean> {
  const holder = await readHolder(lockPath);
  if (holder?.machine === machineName()) return !isRunning(holder);
  // Written by another machine, or not yet written to its end.
  try {
    return Date.now() - (await stat(lockPath)).mtimeMs > silenceMs;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return true;
    throw error;
  }
}

async function readHolder(lockPath: string): Promise<Holder | null> {
  try {
    // Others may write in this folder: a link to something else, or a pipe, is no lock of ours.
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    await using handle = await open(lockPath, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(longestHolder), 0, longestHolder, 0);
    const parsed = holderSchema.safeParse(JSON.parse(buffer.toString('utf8', 0, bytesRead)));
    return parsed.success ? parsed.data : null;
  } catch (error) {
    if (
      error instanceof SyntaxError ||
      hasCode(error, 'ENOENT', 'EACCES', 'ELOOP', 'EISDIR', 'ESPIPE', 'EAGAIN')
    )
      return null;
    throw error;
  }
}

function isRunning(holder: Holder): boolean {
  const started = processStart(holder.pid);
  if (started !== null && holder.started !== null) return started === holder.started;
  try {
    process.kill(holder.pid, 0);
    return started !== 'dead';
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

/**
 * What makes a process one and the same though its number is used again (field 22 of proc_pid_stat(5)); `dead` for
 * one that was killed but not yet reaped; null where there is no such process or no /proc.
 */
function processStart(pid: number): string | null {
  try {
    const afterName = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ');
    return afterName[0] === 'Z' || afterName[0] === 'X' ? 'dead' : (afterName[19] ?? null);
  } catch {
    return null;
  }
}

/** Host and process-number space: containers on one host can share its name but not see each other's processes. */
function machineName(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}
