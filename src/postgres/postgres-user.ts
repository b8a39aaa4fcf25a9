import { execFile, type ExecFileOptions } from 'node:child_process';
import { chown, lchown, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LeadsyncError } from '../lib/errors.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';

/** Runs a short program to its end, with `stdout` as text. Rejects when it cannot run or ends with another code than 0. */
export const runProgram = promisify(execFile);

export interface PostgresUser {
  /** Program and arguments that the Postgres program and its arguments are appended to; empty: run it directly. */
  readonly prefix: readonly string[];
  /** Ids to start the program with; it must own the cluster's folder. Absent: ours. */
  readonly ids?: { readonly uid: number; readonly gid: number };
}

/** Nothing of our environment (PG* and locale variables would change what it does), and a working folder that every user can reach. */
export const programOptions = {
  cwd: '/',
  env: { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C' },
} satisfies ExecFileOptions;

/** In a user namespace that maps us and our files to `nobody`: no chown, and a 700 folder stays reachable. */
const unshare = 'unshare';
const asNobodyInside = ['--user', '--map-user=65534', '--map-group=65534'];

/**
 * Who runs Postgres here for the cluster in `clusterFolder` (which may not exist yet). An ordinary user: that one. Root:
 * the owner of an existing cluster that is not root's; else root behind a user namespace; else, where that is not
 * permitted (Docker's default seccomp profile, macOS), the user `postgres` or `nobody`.
 */
export async function findPostgresUser(clusterFolder: string): Promise<PostgresUser> {
  if (process.getuid?.() !== 0) return { prefix: [] };
  const owner = await stat(clusterFolder).catch(() => null);
  if (owner !== null && owner.uid !== 0) return { prefix: [], ids: { uid: owner.uid, gid: owner.gid } };
  if (await canUnshare()) return { prefix: [unshare, ...asNobodyInside] };
  const ids = await idsOf(['postgres', 'nobody']);
  if (ids !== null) return { prefix: [], ids };
  throw new LeadsyncError(
    'database.not-started',
    'Postgres cannot run as root, and no other user was found.',
    {
      help: 'Run leadsync as an ordinary user, or set DATABASE_URL to a Postgres of your own.',
    },
  );
}

async function canUnshare(): Promise<boolean> {
  return runProgram(unshare, [...asNobodyInside, 'true'], programOptions).then(
    () => true,
    () => false,
  );
}

async function idsOf(names: readonly string[]): Promise<{ uid: number; gid: number } | null> {
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const name of names) {
    const [, , uid, gid] = users.find((user) => user[0] === name) ?? [];
    // macOS writes the ids of `nobody` as -2; the system expects them unsigned.
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 };
  }
  return null;
}

/** Also makes sure that the user of Postgres can reach both the folder and the programs. Throws `database.not-writable`. */
export async function handOver(
  folder: string,
  user: PostgresUser,
  binaries: PostgresBinaries,
): Promise<void> {
  const { ids } = user;
  if (ids === undefined) return;
  if ((await stat(folder)).uid !== ids.uid) {
    for (const name of await readdir(folder, { recursive: true })) {
      await lchown(join(folder, name), ids.uid, ids.gid);
    }
    // Last, so that an interrupted hand-over is done again.
    await chown(folder, ids.uid, ids.gid);
  }
  try {
    const reach = 'test -w "$0" && test -x "$1"';
    await runProgram('sh', ['-c', reach, folder, binaries.postgres], { ...programOptions, ...ids });
  } catch (cause) {
    throw new LeadsyncError(
      'database.not-writable',
      `Postgres cannot run as root, and user ${ids.uid}, who runs it instead, cannot reach ${folder} or ${binaries.postgres}.`,
      {
        help: 'Set DATA_DIR to a folder whose parents every user can enter, run leadsync as an ordinary user, or set DATABASE_URL to a Postgres of your own.',
        cause,
      },
    );
  }
}
