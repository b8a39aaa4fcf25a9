import { randomBytes } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import {
  chmod,
  constants,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { loadPostgresBinaries } from './postgres-binaries.ts';
import { findPostgresUser, handOver, programOptions, runProgram } from './postgres-user.ts';
import { codeOf, LeadsyncError } from '../lib/errors.ts';

/** The role that does all work in an embedded cluster: no superuser, and the only one that may log in. */
export const clusterUser = 'leadsync';

/** One Postgres cluster on disk: `data` is Postgres' own folder, next to it `password` and `server.log`. */
export interface Cluster {
  /** Absolute, without symbolic links. */
  readonly folder: string;
  readonly password: string;
}

/** What a server writes about itself into postmaster.pid (see miscadmin.h); 0 for what cannot be read there. */
export interface PidFile {
  readonly pid: number;
  /** A stop was requested; written before the first session ends. */
  readonly stopping: boolean;
}

/** How Postgres names its socket. Its own default number; nothing listens on a port of that number. */
export const socketName = '.s.PGSQL.5432';

/** Bytes that the path of a socket may have: on macOS; Linux takes 107. */
const longestSocketPath = 103;

const unfinishedPrefix = 'postgres.new-';

export function serverFolder(cluster: Cluster): string {
  return join(cluster.folder, 'data');
}

/** The folder of the server's socket under a path that is short enough, until disposed of. Throws `database.not-started` where the system knows no short one. */
export function shortFolder(cluster: Cluster): { readonly path: string } & Disposable {
  const path = serverFolder(cluster);
  if (Buffer.byteLength(join(path, socketName)) <= longestSocketPath) return { path, [Symbol.dispose]() {} };
  if (process.platform !== 'linux') {
    throw new LeadsyncError(
      'database.not-started',
      `The database under ${cluster.folder} cannot be started: the path of its socket would have more than ${longestSocketPath} bytes.`,
      {
        help: 'Set DATA_DIR to a folder with a shorter path, or set DATABASE_URL to a Postgres of your own.',
      },
    );
  }
  // Not a link in a folder for temporary files: those are cleaned up, and where a container's root cannot be written there is none.
  const handle = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  return { path: `/proc/self/fd/${handle}`, [Symbol.dispose]: () => closeSync(handle) };
}

/** Created when there is none: built in a sibling folder and renamed, so that it is there with its password or not at all, however many processes try at once. */
export async function openCluster(dataDir: string, durable: boolean): Promise<Cluster> {
  await mkdir(dataDir, { recursive: true });
  const folder = join(dataDir, 'postgres');
  const cluster = (await readCluster(folder)) ?? (await createCluster(dataDir, folder, durable));
  // What a killed process left behind. One that is still at it fails, and then finds the cluster we have.
  for (const name of await readdir(dataDir)) {
    if (!name.startsWith(unfinishedPrefix)) continue;
    await rm(join(dataDir, name), { recursive: true, force: true }).catch(() => {});
  }
  return cluster;
}

async function readCluster(folder: string): Promise<Cluster | null> {
  try {
    const password = await readFile(join(folder, 'password'), 'utf8');
    return { folder: await realpath(folder), password: password.trim() };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Postgres refuses a folder that others can write to or enter, as some backup programs restore it. */
export async function closeToOthers(cluster: Cluster, tell: (line: string) => void): Promise<void> {
  for (const [path, mode] of [
    [serverFolder(cluster), 0o700],
    [join(cluster.folder, 'password'), 0o600],
  ] as const) {
    const { mode: found } = await stat(path);
    if ((found & 0o077) === 0) continue;
    await chmod(path, mode);
    tell(
      `${path} was open to others (mode ${(found & 0o777).toString(8)}); it is closed to them now (mode ${mode.toString(8)})`,
    );
  }
}

async function createCluster(dataDir: string, folder: string, durable: boolean): Promise<Cluster> {
  const unfinished = await mkdtemp(join(dataDir, unfinishedPrefix));
  try {
    const binaries = await loadPostgresBinaries();
    const user = await findPostgresUser(folder);
    const password = randomBytes(24).toString('base64url');
    await writeFile(join(unfinished, 'password'), password, { mode: 0o600, flush: true });
    await handOver(unfinished, user, binaries);
    const [program = '', ...args] = [
      ...user.prefix,
      binaries.initdb,
      `--pgdata=${join(unfinished, 'data')}`,
      '--username=postgres',
      '--auth=reject',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      // The password is random and long: to make each guess of it slow would only make each connection slow.
      '--set=scram_iterations=1',
      ...(durable ? [] : ['--no-sync']),
    ];
    await runProgram(program, args, { ...programOptions, ...user.ids });
    // As the file that initdb has made: owner and rights stay.
    await writeFile(join(unfinished, 'data', 'pg_hba.conf'), `local all ${clusterUser} scram-sha-256\n`, {
      flush: true,
    });
    await runAsSuperuser(unfinished, [
      `create role ${clusterUser} login password '${password}'`,
      `alter database postgres owner to ${clusterUser}`,
    ]);
    await rename(unfinished, folder);
    await syncFolder(dataDir);
    return { folder: await realpath(folder), password };
  } catch (error) {
    // Somebody else was faster, or removed what we had begun because they were.
    const winner = await readCluster(folder);
    if (winner !== null) return winner;
    throw error;
  } finally {
    // What stays, the next start removes.
    await rm(unfinished, { recursive: true, force: true }).catch(() => {});
  }
}

/** Runs statements in a cluster whose server is stopped, each on one line: over no connection a superuser may do so. */
export async function runAsSuperuser(clusterFolder: string, statements: readonly string[]): Promise<void> {
  const binaries = await loadPostgresBinaries();
  const user = await findPostgresUser(clusterFolder);
  const [program, ...args] = [
    ...user.prefix,
    binaries.postgres,
    '--single',
    '-D',
    join(clusterFolder, 'data'),
    '-c',
    'exit_on_error=on',
    'postgres',
  ];
  const running = runProgram(program, args, { ...programOptions, ...user.ids });
  running.child.stdin?.on('error', () => {});
  running.child.stdin?.end(statements.map((statement) => `${statement}\n`).join(''));
  await running;
}

async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, constants.O_RDONLY);
  await handle.sync();
}

/** The content of the last server's pid file, also after its end; null without a file. */
export async function readPidFile(cluster: Cluster): Promise<PidFile | null> {
  try {
    const lines = (await readFile(pidFilePath(cluster), 'utf8')).split('\n');
    return {
      pid: Number(lines[0]) || 0,
      stopping: lines[7]?.trim() === 'stopping',
    };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** The lock of a socket whose server is gone: another program may have the number in it by now. */
export async function removeSocketLock(cluster: Cluster): Promise<void> {
  await rm(join(serverFolder(cluster), `${socketName}.lock`), { force: true });
}

/** For an empty or broken file only, which Postgres refuses instead of overwriting it. */
export async function removePidFile(cluster: Cluster): Promise<void> {
  await rm(pidFilePath(cluster), { force: true });
}

function pidFilePath(cluster: Cluster): string {
  return join(serverFolder(cluster), 'postmaster.pid');
}
