import { randomBytes } from 'node:crypto';
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
import { codeOf } from '../errors.ts';

/** Name of the superuser of an embedded cluster. */
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
  readonly port: number;
  /** A stop was requested; written before the first session ends. */
  readonly stopping: boolean;
}

const unfinishedPrefix = 'postgres.new-';

export function serverFolder(cluster: Cluster): string {
  return join(cluster.folder, 'data');
}

/**
 * The cluster under `dataDir`, created when there is none. It is built in a sibling folder and renamed, so that it is
 * there with its password or not at all, whenever we are killed and however many processes try at once.
 */
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
    const passwordFile = join(unfinished, 'password');
    await writeFile(passwordFile, password, { mode: 0o600, flush: true });
    await handOver(unfinished, user, binaries);
    const [program = '', ...args] = [
      ...user.prefix,
      binaries.initdb,
      `--pgdata=${join(unfinished, 'data')}`,
      `--username=${clusterUser}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      // The password is random and long: to make each guess of it slow would only make each connection slow.
      '--set=scram_iterations=1',
      ...(durable ? [] : ['--no-sync']),
    ];
    await runProgram(program, args, { ...programOptions, ...user.ids });
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

/** Makes a rename in the folder survive a power failure. */
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
      port: Number(lines[3]) || 0,
      stopping: lines[7]?.trim() === 'stopping',
    };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** For an empty or broken file only, which Postgres refuses instead of overwriting it. */
export async function removePidFile(cluster: Cluster): Promise<void> {
  await rm(pidFilePath(cluster), { force: true });
}

function pidFilePath(cluster: Cluster): string {
  return join(serverFolder(cluster), 'postmaster.pid');
}
