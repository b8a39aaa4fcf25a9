import { randomUUID } from 'node:crypto';
import { constants, readFileSync, readlinkSync } from 'node:fs';
import { open, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { LeadsyncError } from '../../lib/errors.ts';
import { hasCode, writeFault } from '../file/file-fault.ts';

/** The interval of a holder's heartbeat, and after which silence (ms) a holder that cannot be checked counts as dead. */
const heartbeatMs = 2_000;
const silenceMs = 20_000;

const holderSchema = z.object({
  token: z.string(),
  pid: z.number().int().positive(),
  machine: z.string(),
  /** Start of the process in kernel ticks; null where unknown. */
  started: z.string().nullable(),
});
type Holder = z.infer<typeof holderSchema>;

export interface FileLock extends AsyncDisposable {
  /** @throws LeadsyncError `target.busy` when another process took over the lock: stop writing. */
  assertHeld(): Promise<void>;
}

/** The lock's path: beside the file, so that every process that can write the file sees it. */
export function lockPathOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.leadsync-lock`);
}

/**
 * Released by disposal. A dead holder's lock is taken over: at once if it ran on this machine, else 20 s after its last heartbeat, and
 * 2 s after it was created if it still names nobody. Two that take over at once can both believe to hold it briefly: call `assertHeld`
 * just before the decisive step. Throws `target.busy` (later), `target.not-writable` and `target.disk-full`.
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
    if (!(await isAbandoned(lockPath))) break;
    await rm(lockPath, { force: true }).catch((error: unknown) => {
      throw writeFault(error, path);
    });
  }
  throw heldByOther(path);
}

function heldByOther(path: string): LeadsyncError {
  const message = `Another leadsync process is writing ${path}. Nothing was written.`;
  return new LeadsyncError('target.busy', message, { retry: 'later', retryAfterMs: 5_000 });
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
    // The clock by which others judge it; neither the disk's nor necessarily this machine's.
    const seconds = Date.now() / 1_000;
    // assertHeld notices a missing lock where it matters.
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
  // Another machine's, or without a name yet: who made it writes that at once, and notices when it was taken over.
  try {
    const { mtimeMs, size } = await stat(lockPath);
    return Date.now() - mtimeMs > (size === 0 ? heartbeatMs : silenceMs);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return true;
    throw error;
  }
}

async function readHolder(lockPath: string): Promise<Holder | null> {
  try {
    // Others may write in this folder: a link or a pipe is not our lock.
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    await using handle = await open(lockPath, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4096), 0, 4096, 0);
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

/** Tells a process from a later one of its number (field 22 of proc_pid_stat(5)); `dead`: a zombie; null: no such process, or no /proc. */
function processStart(pid: number): string | null {
  try {
    const found = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const afterName = found.replace(/^.*\) /s, '').split(' ');
    return afterName[0] === 'Z' || afterName[0] === 'X' ? 'dead' : (afterName[19] ?? null);
  } catch {
    return null;
  }
}

/** Host and process namespace: containers can share a host name without seeing each other's processes. */
function machineName(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}
