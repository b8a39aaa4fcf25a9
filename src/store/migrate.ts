import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { codeOf, LeadsyncError } from '../lib/errors.ts';
import { makeSchema, withSchemaRights } from '../postgres/schema-rights.ts';
import { docsPath } from '../lib/version.ts';
import { columnOf, mapOf, type Queryable } from './database.ts';

interface Migration {
  /** File name. */
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the text with `\n` line ends, so that a checkout on Windows is no change. */
  readonly checksum: string;
}

/** A migration that a database, or a backup, says has run. */
export type RanMigration = Pick<Migration, 'name' | 'checksum'>;

const ownMigrations = fileURLToPath(new URL('./migrations', import.meta.url));
/** Two-part key of the advisory lock under which the schema is changed: "lead", "migr". */
export const migrateLock: readonly number[] = [0x6c656164, 0x6d696772];
/** The same of the lock under which a state moves away, which each start waits for: "lead", "move". */
export const moveLock: readonly number[] = [0x6c656164, 0x6d6f7665];

/**
 * Brings the schema `leadsync` up to date: runs each `.sql` file of the folder that has not run yet, in the order of
 * their names, each in a transaction of its own with `leadsync` as its search path. Any number of processes may do
 * this at once; each file runs once. Returns the names of the files that ran here.
 *
 * Throws, all with retry never: `database.newer-schema` when files have run that are not in the folder,
 * `database.migration-changed` when a file that has run is another one now, `database.migration-failed` when a file
 * fails (it is rolled back, those before it stay), and `database.forbidden`.
 */
export function migrate(pool: pg.Pool, folder = ownMigrations): Promise<readonly string[]> {
  return withSchemaRights(pool, () => migrateNow(pool, folder));
}

async function migrateNow(pool: pg.Pool, folder: string): Promise<readonly string[]> {
  const migrations = readMigrations(folder);
  // Nearly always nothing is pending: one question then, and no lock.
  const ledger = await askLedger(pool);
  if (ledger !== null && pendingAfter(migrations, ledger, setUp).length === 0) return [];
  const client = await pool.connect();
  let clean = false;
  try {
    await client.query('select pg_advisory_lock($1, $2)', [...migrateLock]);
    const pending = pendingAfter(migrations, await readLedger(client), setUp);
    for (const migration of pending) await run(client, migration);
    await client.query('select pg_advisory_unlock($1, $2)', [...migrateLock]);
    clean = true;
    return pending.map(({ name }) => name);
  } finally {
    // After a failure the connection is closed, which gives up the lock and the transaction whatever their state.
    client.release(!clean);
  }
}

const setUp = 'The database was set up';

/** SQLSTATE. */
const undefinedTable = '42P01';

/** `names`: files that this version does not know and that have run. `made`: where, to begin a sentence with. */
function newerSchema(names: readonly string[], made: string): LeadsyncError {
  return new LeadsyncError(
    'database.newer-schema',
    `${made} by a newer leadsync (${names.join(', ')}). Nothing was changed.`,
    {
      help: `Run that version, or go back to this one as ${docsPath('upgrade.md')} says under "The way back".`,
    },
  );
}

/** Throws `database.newer-schema` when files have run since that are not in the folder. Changes nothing. */
export async function assertKnownSchema(pool: pg.Pool, folder = ownMigrations): Promise<void> {
  const known = readdirSync(folder);
  const text = 'select name from leadsync.migrations where name <> all($1) order by name';
  const names = await columnOf<string>(pool, text, [known]);
  if (names.length > 0) throw newerSchema(names, setUp);
}

/** At once, not in turns: each command waits for it, and reading the files in turns takes a few ms longer. */
function readMigrations(folder: string): readonly Migration[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  return names.toSorted().map((name) => {
    const sql = readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n');
    return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
  });
}

/**
 * Within the caller's transaction: makes the tables as they were when exactly these had run, lets `load` fill them, and runs
 * the migrations that came after. The schema must be empty. Throws what `migrate` does.
 */
export async function migrateAround(
  client: pg.PoolClient,
  ran: readonly RanMigration[],
  load: () => Promise<void>,
  folder = ownMigrations,
): Promise<void> {
  const migrations = readMigrations(folder);
  const applied = new Map(ran.map(({ name, checksum }) => [name, checksum]));
  const pending = pendingAfter(migrations, applied, 'The backup was made');
  await readLedger(client);
  for (const migration of migrations) if (applied.has(migration.name)) await apply(client, migration);
  await load();
  for (const migration of pending) await apply(client, migration);
}

/** Those that have not run yet. `made`: what they ran in, and how it came about, to begin a sentence with. */
function pendingAfter(
  migrations: readonly Migration[],
  applied: ReadonlyMap<string, string>,
  made: string,
): readonly Migration[] {
  const known = new Set(migrations.map(({ name }) => name));
  const unknown = [...applied.keys()].filter((name) => !known.has(name));
  if (unknown.length > 0) throw newerSchema(unknown, made);
  const changed = migrations.find(
    ({ name, checksum }) => applied.has(name) && applied.get(name) !== checksum,
  );
  if (changed !== undefined) {
    throw new LeadsyncError(
      'database.migration-changed',
      `${made} with a migration ${changed.name} that differs from the one of this leadsync. Nothing was changed.`,
      { help: 'Restore the file as it was released; a change of the schema goes into a new file.' },
    );
  }
  return migrations.filter(({ name }) => !applied.has(name));
}

/** Checksums of the files that have run, by name; null: no ledger yet. */
async function askLedger(db: Queryable): Promise<ReadonlyMap<string, string> | null> {
  try {
    return await mapOf(db, 'select name, checksum from leadsync.migrations');
  } catch (error) {
    if (codeOf(error) === undefinedTable) return null;
    throw error;
  }
}

/** The same; creates schema and ledger when they are missing. */
async function readLedger(client: pg.PoolClient): Promise<ReadonlyMap<string, string>> {
  await makeSchema(client, 'leadsync');
  await client.query(
    `create table if not exists leadsync.migrations (
       name text primary key,
       checksum text not null,
       applied_at timestamptz not null default now()
     )`,
  );
  return (await askLedger(client)) ?? new Map<string, string>();
}

async function run(client: pg.PoolClient, migration: Migration): Promise<void> {
  await client.query('begin');
  await apply(client, migration);
  await client.query('commit');
}

/** Within a transaction. Throws `database.migration-failed`. */
async function apply(client: pg.PoolClient, { name, sql, checksum }: Migration): Promise<void> {
  try {
    await client.query('set local search_path to leadsync');
    await client.query(sql);
    await client.query('insert into leadsync.migrations (name, checksum) values ($1, $2)', [name, checksum]);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new LeadsyncError(
      'database.migration-failed',
      `The migration ${name} failed and was rolled back: ${reason}`,
      {
        help: 'Check that the user of DATABASE_URL may create tables in the schema leadsync.',
        cause,
      },
    );
  }
}
