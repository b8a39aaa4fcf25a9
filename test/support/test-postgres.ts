import { once } from 'node:events';
import { appendFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/postgres/embedded-postgres.ts';
import { clusterUser, openCluster, runAsSuperuser, socketName } from '../../src/postgres/postgres-cluster.ts';

/**
 * A bundled Postgres for tests, on its socket: its role is a superuser, so that each test makes its own database and
 * users. A power failure destroys it.
 */
export async function startSocketPostgres(folder: string): Promise<EmbeddedPostgres> {
  await makeSuperuser(folder, false);
  await appendFile(join(folder, 'postgres/data/pg_hba.conf'), 'local all all scram-sha-256\n');
  return startEmbeddedPostgres(folder, { durable: false });
}

/** The same, with a port of 127.0.0.1 for programs that know no sockets, and for proxies: each answer passes through this thread. */
export async function startTestPostgres(folder: string): Promise<EmbeddedPostgres> {
  const server = await startSocketPostgres(folder);
  const url = new URL(server.connectionString);
  const socket = join(url.searchParams.get('host') ?? '', socketName);
  const relay = createServer((near) => {
    const far = connect(socket);
    pipeline(near, far, near, () => {});
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const { port } = relay.address() as AddressInfo;
  return {
    connectionString: `postgres://${url.username}:${url.password}@127.0.0.1:${port}/postgres`,
    async close() {
      relay.close();
      await server.close();
    },
  };
}

/** Makes the cluster, if there is none, and its role a superuser. */
export async function makeSuperuser(folder: string, durable: boolean): Promise<void> {
  const cluster = await openCluster(resolve(folder), durable);
  await runAsSuperuser(cluster.folder, [`alter role ${clusterUser} superuser`]);
}
