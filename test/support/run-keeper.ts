/**
 * Keeps what a test run has outside of its own processes: the Postgres that all tests share, and the folder for temporary files. Both
 * are gone when standard input ends, however the run ended; in a session of its own, no Ctrl-C reaches this process. It prints
 * one JSON line, `{ databaseUrl, temporary }`. A run that ends well writes a line before; after any other its processes are ended too.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestPostgres } from './test-postgres.ts';

/** In memory where there is room: hundreds of databases are made, and to copy one takes up to half a second on a slow disk. */
async function scratchFolder(): Promise<string> {
  const inMemory = '/dev/shm';
  const { bavail, bsize } = await statfs(inMemory).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize > 2 * 1024 ** 3 ? inMemory : tmpdir();
}

/**
 * Ends what still runs in the folder: what names it in its command line, and with `inherited` what has its temporary files there.
 * Linux only.
 */
async function endProcessesOf(folder: string, inherited: boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  for (let told = new Set<string>(); Date.now() < deadline; await sleep(50)) {
    const left =
      process.platform === 'linux' ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : [];
    const ours = left.filter(
      (pid) =>
        read(pid, 'cmdline').includes(`${folder}/`) ||
        // Postgres is started in its folder.
        cwdOf(pid).startsWith(`${folder}/`) ||
        (inherited && read(pid, 'environ').split('\0').includes(`TMPDIR=${folder}`)),
    );
    if (ours.length === 0) return;
    for (const pid of ours.filter((one) => !told.has(one))) {
      // At once too, and Postgres leaves no shared memory behind.
      const signal = read(pid, 'cmdline').includes('/postgres\0-D\0') ? 'SIGQUIT' : 'SIGKILL';
      try {
        process.kill(Number(pid), signal);
      } catch {
        // It has ended meanwhile.
      }
    }
    told = new Set(ours);
  }
}

function cwdOf(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    // It has ended, or is another user's.
    return '';
  }
}

// Nobody may be there to read any more.
process.stdout.on('error', () => {});
const temporary = await mkdtemp(join(tmpdir(), 'leadsync-run-'));
const data = await mkdtemp(join(await scratchFolder(), 'leadsync-test-'));
try {
  // As /tmp is: some programs run as another user. So does Postgres where root may not make user namespaces.
  await chmod(temporary, 0o1777);
  await chmod(data, 0o755);
  const { TEST_DATABASE_URL: other } = process.env;
  const server = other === undefined ? await startTestPostgres(data) : null;
  console.log(JSON.stringify({ databaseUrl: other ?? server?.connectionString, temporary }));
  const endedWell = (await text(process.stdin)) !== '';
  await endProcessesOf(temporary, !endedWell);
  await server?.close();
} finally {
  await rm(data, { recursive: true, force: true });
  await rm(temporary, { recursive: true, force: true, maxRetries: 5 });
}
