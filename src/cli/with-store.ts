import type pg from 'pg';
import type { Config } from '../config/config.ts';
import { loadConfigFromProcess } from '../config/load.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { openStore, openStoreAsIs, type Store } from '../store/open-store.ts';
import { useDatabaseTime } from '../store/database-time.ts';
import { unlessStopped } from './stop.ts';

export interface CommonOptions {
  readonly connection?: string;
  readonly config?: string;
  readonly json?: boolean;
}

/**
 * For commands that only need what is stored: they start fast, and work while the queue, or a service, is away. A stop ends
 * them where they are. Throws `state.moved` unless `evenMoved`.
 */
export async function withStore(
  options: CommonOptions,
  run: (pool: pg.Pool, config: Config) => Promise<void>,
  { evenMoved = false } = {},
): Promise<void> {
  const config = await loadNarrowed(options);
  await using store = await openStore(config, undefined, evenMoved);
  using _time = await useDatabaseTime(store.pool);
  await unlessStopped(() => run(store.pool, config));
}

/** Ms in which a command that heeds a stop ends by itself, unless it waits for somebody's lock. */
const graceMs = 5_000;

/** For commands on the state of all connections at once, whatever its schema is; they heed a stop themselves. Throws `usage.all-connections` with `--connection`. */
export async function withWholeState(
  options: CommonOptions,
  run: (store: Store, config: Config) => Promise<void>,
): Promise<void> {
  if (options.connection !== undefined)
    throw new LeadsyncError(
      'usage.all-connections',
      'The state of all connections is one: --connection cannot be used here',
    );
  const config = await loadNarrowed(options);
  await using store = await openStoreAsIs(config);
  await unlessStopped(() => run(store, config), graceMs);
}

/** The configuration, narrowed to `--connection`. Throws `usage.unknown-connection`. */
export async function loadNarrowed({ config: file, connection: name }: CommonOptions): Promise<Config> {
  const config = await loadConfigFromProcess(file);
  if (name === undefined) return config;
  const connections = config.connections.filter((connection) => connection.name === name);
  if (connections.length > 0) return { ...config, connections };
  const known = config.connections.map((connection) => connection.name).join(', ');
  throw new LeadsyncError('usage.unknown-connection', `there is no connection ${name}`, {
    help: `Configured are: ${known}`,
  });
}
