import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { EmbeddedPostgresOptions } from '../postgres/embedded-postgres.ts';
import type { PostgresUrl } from '../postgres/postgres-client.ts';
import { assertOwnSession, fitPool, openDatabase } from './database.ts';
import { assertNotMoved } from './keeper.ts';
import { migrate, moveLock } from './migrate.ts';

export interface Store extends AsyncDisposable {
  readonly pool: pg.Pool;
  readonly connectionString: PostgresUrl;
}

/** Ms in which the connections of a pool are closed, if they are. */
const longestEndMs = 3_000;

/** Where the state is; without `databaseUrl` in the embedded server of `dataDir`. */
interface Place {
  readonly databaseUrl?: PostgresUrl;
  readonly dataDir: string;
}

/** Callbacks of the embedded server; by default its repairs are reported on stderr. */
type Callbacks = Pick<EmbeddedPostgresOptions, 'onFault' | 'tell'>;

/**
 * The database that is configured, or the embedded one, with the schema of this version. Throws what `openStoreAsIs` and
 * `migrate` do, and `state.moved` unless `evenMoved`.
 */
export async function openStore(place: Place, callbacks?: Callbacks, evenMoved = false): Promise<Store> {
  await using stack = new AsyncDisposableStack();
  const store = stack.use(await openStoreAsIs(place, callbacks));
  await migrate(store.pool);
  // Waits for a move that is under way.
  await store.pool.query('select pg_advisory_xact_lock_shared($1, $2)', [...moveLock]);
  if (!evenMoved) await assertNotMoved(store.pool);
  const owned = stack.move();
  return { ...store, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** The same without migrating the schema. Throws what `startEmbeddedPostgres`, `openDatabase` and `assertOwnSession` do. */
export async function openStoreAsIs(
  { databaseUrl, dataDir }: Place,
  callbacks: Callbacks = { tell: (line) => void process.stderr.write(`leadsync: ${line}\n`) },
): Promise<Store> {
  await using stack = new AsyncDisposableStack();
  const connectionString = databaseUrl ?? (await useEmbedded(dataDir, stack, callbacks));
  const pool = stack.adopt(openDatabase({ connectionString }), async (opened) => {
    // A query that a stop left behind may wait for a lock: what ends after us, server or process, ends its session.
    await Promise.race([opened.end(), sleep(longestEndMs, undefined, { ref: false })]);
  });
  // The embedded one has no pooler in front of it.
  if (databaseUrl !== undefined) {
    await assertOwnSession(pool);
    await fitPool(pool);
  }
  const owned = stack.move();
  return { pool, connectionString, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function useEmbedded(
  dataDir: string,
  stack: AsyncDisposableStack,
  callbacks: Callbacks,
): Promise<string> {
  const { startEmbeddedPostgres } = await import('../postgres/embedded-postgres.ts');
  const server = stack.adopt(await startEmbeddedPostgres(dataDir, callbacks), (started) => started.close());
  return server.connectionString;
}
