import { spawn } from 'node:child_process';
import { access, constants, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LeadsyncError } from '../lib/errors.ts';
import { loadPostgresBinaries, type PostgresBinaries } from './postgres-binaries.ts';
import { type Cluster, removeSocketLock, serverFolder } from './postgres-cluster.ts';
import { findPostgresUser, handOver, programOptions, runProgram } from './postgres-user.ts';

export interface ServerProcess {
  /** Null while it runs; -1 when it was killed or could not be run at all. */
  readonly exitCode: number | null;
  /** What it wrote to the log so far, shortened to the last lines. */
  logTail(): Promise<string>;
}

/** By its command line: another program may have the number by now, and a zombie has no command line. */
export async function isServer(cluster: Cluster, pid: number): Promise<boolean> {
  if (!(pid > 0)) return false;
  const commandLine =
    process.platform === 'linux'
      ? readFile(`/proc/${pid}/cmdline`, 'utf8').then((text) => text.replaceAll('\0', ' '))
      : runProgram('ps', ['-ww', '-o', 'args=', '-p', String(pid)], {
          ...programOptions,
          env: { ...programOptions.env, LC_ALL: 'en_US.UTF-8' },
        }).then(({ stdout }) => stdout);
  return (await commandLine.catch(() => '')).includes(`/postgres -D ${serverFolder(cluster)} -c `);
}

/**
 * Does not wait. Detached: survives this process and a Ctrl-C. `stalePid`: the other program that a left-over pid file names; Postgres
 * overwrites the file only when there is no such process.
 */
export async function startServer(
  cluster: Cluster,
  stalePid: number | null,
  durable: boolean,
): Promise<ServerProcess> {
  const binaries = await loadPostgresBinaries();
  await checkVersion(cluster, binaries);
  const user = await findPostgresUser(cluster.folder);
  await handOver(cluster.folder, user, binaries);
  await removeSocketLock(cluster);
  const logFile = join(cluster.folder, 'server.log');
  const log = await open(logFile, 'a', 0o600);
  let logStart = (await log.stat()).size;
  if (logStart > 1_000_000) {
    await log.truncate(0);
    logStart = 0;
  }
  const settings = {
    listen_addresses: '',
    // In the folder of its data, which Postgres itself lets nobody else enter; relative, so that its path is never too long.
    unix_socket_directories: '.',
    unix_socket_permissions: '0700',
    port: '5432',
    max_connections: '300',
    shared_buffers: '64MB',
    max_wal_size: '256MB',
    log_checkpoints: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  };
  const [program = '', ...args] = [
    ...user.prefix,
    binaries.postgres,
    '-D',
    serverFolder(cluster),
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
  const child = spawn(program, args, {
    ...programOptions,
    // A new session, no pipe to us: nothing that ends with this process.
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    // A pid file that names Postgres' grandparent counts as left over (see miscinit.c); meant for restarts in
    // containers, where the same few numbers come back.
    env:
      stalePid === null
        ? programOptions.env
        : { ...programOptions.env, PG_GRANDPARENT_PID: String(stalePid) },
    ...user.ids,
  });
  child.unref();
  let failed = false;
  child.once('error', () => (failed = true));
  await log.close();
  return {
    get exitCode() {
      return failed || child.signalCode !== null ? -1 : child.exitCode;
    },
    async logTail() {
      const text = (await readFile(logFile)).subarray(logStart).toString('utf8');
      return text.trim().split('\n').slice(-5).join('\n');
    },
  };
}

async function checkVersion(cluster: Cluster, binaries: PostgresBinaries): Promise<void> {
  const found = (await readFile(join(serverFolder(cluster), 'PG_VERSION'), 'utf8')).trim();
  const { stdout } = await runProgram(binaries.postgres, ['--version'], programOptions);
  const ours = String(Number.parseInt(stdout.trim().split(' ').at(-1) ?? '', 10));
  if (found === ours) return;
  throw new LeadsyncError(
    'database.other-version',
    `The database under ${cluster.folder} was made by Postgres ${found}, and this leadsync brings Postgres ${ours}. Nothing was changed.`,
    {
      help: `Run the leadsync version that made it, or carry the data over with pg_dump of Postgres ${found} into a new DATA_DIR or a DATABASE_URL.`,
    },
  );
}

/** Why the server does not come up: what the system says of its folder, or the end of its log. */
export async function startFault(cluster: Cluster, server: ServerProcess | null): Promise<unknown> {
  try {
    await access(serverFolder(cluster), constants.W_OK);
    return new Error((await server?.logTail()) || 'it wrote no log.');
  } catch (error) {
    return error;
  }
}
