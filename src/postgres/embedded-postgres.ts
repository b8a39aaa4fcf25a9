import { statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { codeOf, LeadsyncError } from '../lib/errors.ts';
import { PostgresClient } from './postgres-client.ts';
import {
  closeToOthers,
  type Cluster,
  clusterUser,
  openCluster,
  readPidFile,
  removePidFile,
  shortFolder,
} from './postgres-cluster.ts';
import { isServer, type ServerProcess, startFault, startServer } from './postgres-server.ts';

export interface EmbeddedPostgres {
  /** `postgres://` URL of its socket with user and password, for this process: another one may need another path. */
  readonly connectionString: string;
  /** Leaves the server; the last process to leave stops it. Close your pools first. */
  close(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** False (for tests and the demo): faster, and a power failure destroys the database. */
  readonly durable?: boolean;
  /** Gets each failed restart, with the ms until the next one. */
  readonly onFault?: (fault: LeadsyncError, againMs: number) => void;
  readonly tell?: (line: string) => void;
}

/** A connection that holds the shared lock which says "this server is in use". */
interface Session {
  readonly client: pg.Client;
  readonly pid: number;
}

const deadlineMs = 60_000;
const pollMs = 50;
/** The pause after a server that could not be started again doubles, from the first to the last (ms). */
const restartPause = { first: 1_000, last: 30_000 };
/** With growing pauses, 3 s in all: time for the children of a killed server to end. */
const failedStartsAllowed = 6;
/** Two-part key of the advisory lock in the database `postgres`: "lead", "use". */
const useLock = [0x6c656164, 0x757365];

/**
 * The Postgres under `dataDir`: created when missing, started when stopped, joined when another process has it running.
 * It keeps running when this process is killed; the next one joins it. While we use it and it dies, it is started
 * again, and tried again until it is closed; what is missing then is waited for, never made anew. It has no port: its
 * socket is in a folder that only its user can enter, so that nobody else can take its place. All processes must be on one
 * machine (or in one container): Postgres cannot see from one container that another has the same folder open.
 *
 * Throws `database.not-writable`, `database.disk-full`, `database.unsupported-platform`, `database.other-version`,
 * and `database.not-started` with the end of the server's log.
 */
export async function startEmbeddedPostgres(
  dataDir: string,
  options: EmbeddedPostgresOptions = {},
): Promise<EmbeddedPostgres> {
  try {
    return await start(resolve(dataDir), options);
  } catch (error) {
    throw await faultOf(dataDir, error);
  }
}

async function faultOf(dataDir: string, error: unknown): Promise<LeadsyncError> {
  return error instanceof LeadsyncError ? error : folderFault(resolve(dataDir), error);
}

async function start(
  dataDir: string,
  { durable = true, onFault, tell = () => {} }: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const cluster = await openCluster(dataDir, durable);
  await closeToOthers(cluster, tell);
  const closing = new AbortController();
  const { signal } = closing;
  const place = shortFolder(cluster);
  const url = `postgres://${clusterUser}:${cluster.password}@localhost/postgres?host=${encodeURIComponent(place.path)}&require_auth=scram-sha-256`;
  let session: Session;
  try {
    session = await joinOrStart(cluster, url, durable);
  } catch (error) {
    place[Symbol.dispose]();
    throw error;
  }
  let closed: Promise<void> | null = null;
  let reviving: Promise<void> = Promise.resolve();

  async function revive(): Promise<void> {
    for (
      let pauseMs = restartPause.first;
      !signal.aborted;
      pauseMs = Math.min(2 * pauseMs, restartPause.last)
    ) {
      try {
        session = await joinOrStart(cluster, url, durable);
        return reviveWhenLost();
      } catch (error) {
        if (signal.aborted) return;
        onFault?.(await faultOf(dataDir, error), pauseMs);
        await sleep(pauseMs, undefined, { signal }).catch(() => {});
      }
    }
  }

  function reviveWhenLost(): void {
    session.client.once('end', () => {
      if (!signal.aborted) reviving = revive();
    });
  }
  reviveWhenLost();

  return {
    connectionString: url,
    close() {
      closing.abort();
      closed ??= reviving.then(() => leave(cluster, session)).finally(() => place[Symbol.dispose]());
      return closed;
    },
  };
}

async function joinOrStart(cluster: Cluster, url: string, durable: boolean): Promise<Session> {
  const deadline = Date.now() + deadlineMs;
  let server: ServerProcess | null = null;
  let failedStarts = 0;
  while (Date.now() < deadline) {
    const pidFile = await readPidFile(cluster);
    const running = pidFile !== null && (await isServer(cluster, pidFile.pid));
    const session = running ? await connect(cluster, pidFile.pid, url) : null;
    if (session !== null) return session;
    if (!running && server?.exitCode !== null) {
      if (server !== null && server.exitCode !== 0) {
        failedStarts += 1;
        if (failedStarts >= failedStartsAllowed) break;
        await sleep(pollMs * 2 ** failedStarts);
        // Still unreadable after the pause, so it is not another process' server that is about to write it.
        if (pidFile?.pid === 0 && (await readPidFile(cluster))?.pid === 0) await removePidFile(cluster);
      }
      server = await startServer(cluster, pidFile?.pid || null, durable);
    }
    await sleep(pollMs);
  }
  throw await startFault(cluster, server);
}

/** Null when this server does not (not yet, no longer) accept connections. */
async function connect(cluster: Cluster, pid: number, connectionString: string): Promise<Session | null> {
  const client = new PostgresClient({
    connectionString,
    application_name: 'leadsync in use',
    connectionTimeoutMillis: 5_000,
    query_timeout: 10_000,
    keepAlive: true,
  });
  // A lost connection shows as `end` as well.
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ joined: boolean }>(
      'select pg_try_advisory_lock_shared($1, $2) as joined',
      useLock,
    );
    // Not joined: the last user is just about to stop it. Joined and stopping: the same, but its session has ended.
    const stopping = (await readPidFile(cluster))?.stopping ?? true;
    if (rows[0]?.joined === true && !stopping) return { client, pid };
  } catch {
    // Starting, stopping, or gone.
  }
  await client.end().catch(() => {});
  return null;
}

/** Gives up the shared lock, and stops the server when no other process holds it. */
async function leave(cluster: Cluster, { client, pid }: Session): Promise<void> {
  if (await isLastUser(client)) {
    // Fast shutdown: ends all sessions, then a checkpoint.
    process.kill(pid, 'SIGINT');
    const deadline = Date.now() + deadlineMs;
    while ((await isServer(cluster, pid)) && Date.now() < deadline) await sleep(pollMs);
  }
  await client.end().catch(() => {});
}

/** True with the exclusive lock, so that no process joins in between. False also when the server is gone. */
async function isLastUser(client: pg.Client): Promise<boolean> {
  try {
    await client.query('select pg_advisory_unlock_shared($1, $2)', useLock);
    const { rows } = await client.query<{ last: boolean }>(
      'select pg_try_advisory_lock($1, $2) as last',
      useLock,
    );
    return rows[0]?.last === true;
  } catch {
    return false;
  }
}

const enoughSpace = 64 * 1024 * 1024;
const unusable = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST']);

/** `database.not-writable`, `database.disk-full`, or else `database.not-started`: by the system's code and the disk's free space, never by a message's text. */
async function folderFault(folder: string, cause: unknown): Promise<LeadsyncError> {
  const code = codeOf(cause);
  if (code !== null && unusable.has(code)) {
    return new LeadsyncError(
      'database.not-writable',
      `The database cannot be kept under ${folder}: ${code}.`,
      {
        help: 'Set DATA_DIR to a folder that this user owns and can write, or set DATABASE_URL to a Postgres of your own.',
        cause,
      },
    );
  }
  const space = await statfs(folder).catch(() => null);
  const free = space === null ? Number.POSITIVE_INFINITY : space.bavail * space.bsize;
  // A program that failed for want of space has removed its files by now, so that some space is free again.
  if (code === 'ENOSPC' || code === 'EDQUOT' || free < enoughSpace) {
    return new LeadsyncError(
      'database.disk-full',
      `There is not enough disk space for the database under ${folder}.`,
      {
        retry: 'later',
        help: 'Free at least 100 MB there, or set DATA_DIR to a folder on another disk.',
        cause,
      },
    );
  }
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new LeadsyncError(
    'database.not-started',
    `The database under ${folder} could not be started: ${detail}`,
    {
      retry: 'later',
      help: `See ${join(folder, 'postgres', 'server.log')}, or set DATABASE_URL to a Postgres of your own.`,
      cause,
    },
  );
}
