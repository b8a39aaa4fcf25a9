import type pg from 'pg';
import type { Config } from './config/config.ts';
import type { EmbeddedPostgresOptions } from './store/embedded-postgres.ts';
import { openDatabase } from './store/database.ts';
import { migrate } from './store/migrate.ts';

/** The database that is configured, or the embedded one, with the schema of this version. */
export interface Store extends AsyncDisposable {
  readonly pool: pg.Pool;
  readonly connectionString: string;
}

/** `onFault`: of the embedded one. Throws what `startEmbeddedPostgres`, `openDatabase` and `migrate` do. */
export async function openStore(
  { databaseUrl, dataDir }: Config,
  onFault?: EmbeddedPostgresOptions['onFault'],
): Promise<Store> {
  await using stack = new AsyncDisposableStack();
  const connectionString = databaseUrl?.reveal() ?? (await useEmbedded(dataDir, onFault, stack));
  const pool = stack.adopt(openDatabase({ connectionString }), (opened) => opened.end());
  await migrate(pool);
  const owned = stack.move();
  return { pool, connectionString, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function useEmbedded(
  dataDir: string,
  onFault: EmbeddedPostgresOptions['onFault'],
  stack: AsyncDisposableStack,
): Promise<string> {
  const { startEmbeddedPostgres } = await import('./store/embedded-postgres.ts');
  const server = stack.adopt(
    await startEmbeddedPostgres(dataDir, { ...(onFault && { onFault }) }),
    (started) => started.close(),
  );
  return server.connectionString;
}
