import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import {
  type Cluster,
  clusterUser,
  openCluster,
  readPidFile,
  shortFolder,
  socketName,
} from '../../../src/postgres/postgres-cluster.ts';
import { isServer, type ServerProcess, startServer } from '../../../src/postgres/postgres-server.ts';

/** How a Postgres ends: asked to; told to drop everything; killed. After the last two it repairs itself at its start. */
const signals = { fast: 'SIGINT', immediate: 'SIGQUIT', kill: 'SIGKILL' } as const;
export type Ending = keyof typeof signals;

const deadlineMs = 60_000;

/** A Postgres that nobody but the chaos stops and starts: durable, as every server has to be. */
export class WorldPostgres implements AsyncDisposable {
  readonly #cluster: Cluster;
  readonly #place: ReturnType<typeof shortFolder>;

  private constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#place = shortFolder(cluster);
  }

  static async open(folder: string): Promise<WorldPostgres> {
    const server = new WorldPostgres(await openCluster(folder, true));
    await server.start();
    return server;
  }

  get password(): string {
    return this.#cluster.password;
  }

  /** Of its socket. */
  get path(): string {
    return join(this.#place.path, socketName);
  }

  /** Its URL, behind a port of a proxy if there is one. */
  url(port?: number): string {
    const login = `postgres://${clusterUser}:${this.#cluster.password}`;
    if (port !== undefined) return `${login}@127.0.0.1:${port}/postgres`;
    return `${login}@localhost/postgres?host=${encodeURIComponent(this.#place.path)}`;
  }

  /** Resolves when it answers. */
  async start(): Promise<void> {
    let server: ServerProcess | null = null;
    for (const end = Date.now() + deadlineMs; ; ) {
      if (await this.#answers()) return;
      if (Date.now() > end) throw new Error(`Postgres did not start: ${await server?.logTail()}`);
      // Of a server that was killed the children may still hold the memory: the start fails, and is tried again.
      if (server === null || server.exitCode !== null) server = await startServer(this.#cluster, null, true);
      await sleep(100);
    }
  }

  /** Resolves when its process is gone. */
  async stop(ending: Ending): Promise<void> {
    const pid = (await readPidFile(this.#cluster))?.pid ?? 0;
    if (!(await isServer(this.#cluster, pid))) return;
    process.kill(pid, signals[ending]);
    while (await isServer(this.#cluster, pid)) await sleep(20);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('fast');
    this.#place[Symbol.dispose]();
  }

  async #answers(): Promise<boolean> {
    const client = new pg.Client({ connectionString: this.url(), connectionTimeoutMillis: 5_000 });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query('select 1');
      return true;
    } catch {
      return false;
    } finally {
      await client.end().catch(() => {});
    }
  }
}
