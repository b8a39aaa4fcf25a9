import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { from as copyFrom } from 'pg-copy-streams';
import pg from 'pg';
import { isDatabaseOutage } from '../postgres/database-outage.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { columnOf, mapOf, oneOf, transaction, valueOf } from './database.ts';
import {
  broken,
  copySettings,
  type DumpHeader,
  DumpReader,
  hasState,
  lastNumbers,
  type OnDumpProgress,
} from './dump.ts';
import { endMove, movedBefore } from './keeper.ts';
import { isAlive } from './leases.ts';
import { migrateAround, migrateLock } from './migrate.ts';
import { connectionOf } from './places.ts';
import { mayBeSent } from './reminders.ts';

export interface RestoreOptions {
  /** Whether a state that is there is thrown away. */
  readonly replace: boolean;
  readonly onProgress: OnDumpProgress;
  /** Where the files of the migrations are, when not in their own folder. */
  readonly migrations?: string;
}

export interface Restored {
  readonly header: DumpHeader;
  /** How many rows each table has got. */
  readonly rows: Readonly<Record<string, number>>;
  /** Connections whose next sync stops. */
  readonly doubted: readonly string[];
}

/**
 * After a restore, numbers begin so far after the last that is known: jobs in Redis, mails and logs may name runs and
 * reminders that this state has never heard of.
 */
const numberGap = 100_000;

/** How long (ms) after a move began it can be ended without a doubt. */
const movesForMs = 86_400_000;

/** Maximum wait (ms) for a lock on a table. */
const lockTimeoutMs = 10_000;

/** Maximum wait (ms) for the sessions of processes that have just ended. */
const endingMs = 2000;

/**
 * Replaces the state with a backup's, migrated to this version's schema, in one transaction. Unless it moves here, the
 * restored state is in doubt: it syncs only after a person has allowed it (`judgeTable`), and mails that were due before now are not sent,
 * because they may have been sent already. The next run abandons one that was under way.
 *
 * Throws `usage.moved-from-here`, `usage.state-not-empty`, `database.in-use`, what `DumpReader` and `migrate` throw, `database.disk-full`, and
 * `database.restore-failed`; nothing has changed then.
 */
export async function restoreState(
  pool: pg.Pool,
  source: AsyncIterable<Buffer>,
  options: RestoreOptions,
): Promise<Restored> {
  const { replace, onProgress, migrations } = options;
  const reader = new DumpReader(source);
  try {
    const header = await reader.header();
    return await transaction(pool, async (client) => {
      await client.query(`set local lock_timeout = ${lockTimeoutMs}`);
      await client.query('select pg_advisory_xact_lock($1, $2)', [...migrateLock]);
      await assertUnused(client);
      const movedAt = header.isMove && (await hasState(client)) ? await movedBefore(client, header.at) : null;
      if (!replace) await assertEmpty(client);
      // In a state that is replaced something may have happened since, unless it moved away before; so may where the file is old.
      const isNext = !replace || (movedAt !== null && movedAt < header.at);
      const isMove = header.isMove && isNext && Date.now() - Date.parse(header.at) < movesForMs;
      const before = await lastNumbers(client);
      await dropAll(client);
      let rows: Readonly<Record<string, number>> = {};
      const load = async (): Promise<void> => {
        rows = await loadTables(client, reader, onProgress);
      };
      await migrateAround(client, header.migrations, load, migrations);
      await endMove(client);
      await client.query(`update runs set settings_hash = '' where finished_at is null`);
      await setNumbers(client, header.sequences, isMove ? null : before);
      return { header, rows, doubted: isMove ? [] : await castDoubt(client, header.at) };
    });
  } catch (error) {
    throw asFault(error);
  } finally {
    await reader.close();
  }
}

/**
 * Throws `database.in-use` when another process of leadsync has this database open. The sessions of a process that has just
 * ended are in Postgres' list for some milliseconds more.
 */
export async function assertUnused(client: pg.PoolClient): Promise<void> {
  const deadline = Date.now() + endingMs;
  while (await isInUse(client)) {
    if (Date.now() < deadline) await sleep(50);
    else
      throw new LeadsyncError(
        'database.in-use',
        'A leadsync worker or command is using this database. Nothing was changed',
        { retry: 'later', help: 'Stop every worker, and try again.' },
      );
  }
}

async function isInUse(client: pg.PoolClient): Promise<boolean> {
  // Within a transaction the list of sessions would stay what it was at the first look.
  await client.query('select pg_stat_clear_snapshot()');
  const { sessions, hasLeases } = await oneOf<{ sessions: number; hasLeases: boolean }>(
    client,
    `select count(*)::int as sessions, to_regclass('leadsync.leases') is not null as "hasLeases" from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and application_name in ('leadsync', 'leadsync-queue')`,
  );
  const held = hasLeases ? await client.query(`select from leadsync.leases where ${isAlive}`) : null;
  return sessions + (held?.rowCount ?? 0) > 0;
}

async function assertEmpty(client: pg.PoolClient): Promise<void> {
  if (!(await hasState(client))) return;
  const text = `select exists (select from leadsync.runs) or exists (select from leadsync.pairs)`;
  if ((await valueOf<boolean>(client, text)) !== true) return;
  throw new LeadsyncError(
    'usage.state-not-empty',
    'This database already has a leadsync state with runs of its own. Nothing was changed',
    { help: 'Keep it with leadsync backup FILE, and then throw it away with --replace.' },
  );
}

/** Keeps the schema itself: this user may lack the right to create it. */
async function dropAll(client: pg.PoolClient): Promise<void> {
  await client.query(`do $$
    declare what text;
    begin
      for what in select relname from pg_class where relnamespace = to_regnamespace('leadsync') and relkind = 'r'
      loop execute format('drop table leadsync.%I cascade', what); end loop;
      for what in select oid::regprocedure from pg_proc where pronamespace = to_regnamespace('leadsync')
      loop execute 'drop function ' || what || ' cascade'; end loop;
    end $$`);
}

async function loadTables(
  client: pg.PoolClient,
  reader: DumpReader,
  onProgress: OnDumpProgress,
): Promise<Readonly<Record<string, number>>> {
  await client.query(copySettings);
  const counts: Record<string, number> = {};
  for (;;) {
    const part = await reader.next();
    if ('table' in part) {
      const { table, columns, rows } = part;
      const copy = client.query(copyFrom(`copy ${table} (${columns.join(', ')}) from stdin`));
      await pipeline(
        counted(rows, (bytes) => onProgress(table, bytes)),
        copy,
      );
      await client.query(`analyze ${table}`);
      counts[table] = copy.rowCount;
      continue;
    }
    const isWhole = Object.entries(part.rows).every(([table, rows]) => counts[table] === rows);
    if (!isWhole) throw broken('rows are missing');
    return counts;
  }
}

async function* counted(rows: AsyncIterable<Buffer>, tell: (bytes: number) => void): AsyncIterable<Buffer> {
  let bytes = 0;
  for await (const chunk of rows) {
    bytes += chunk.length;
    tell(bytes);
    yield chunk;
  }
}

/** `replaced`: the numbers that the replaced state had given out; null: no state was replaced. */
async function setNumbers(
  client: pg.PoolClient,
  last: Readonly<Record<string, number>>,
  replaced: Readonly<Record<string, number>> | null,
): Promise<void> {
  const columns = await mapOf<string>(
    client,
    `select c.relname, a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'leadsync'::regnamespace and c.relkind = 'r' and a.attidentity <> ''`,
  );
  for (const [table, column] of columns) {
    const from = Math.max(last[table] ?? 0, replaced?.[table] ?? 0) + (replaced === null ? 0 : numberGap);
    if (from > 0)
      await client.query('select setval(pg_get_serial_sequence($1, $2), $3)', [
        `leadsync.${table}`,
        column,
        from,
      ]);
  }
}

async function castDoubt(client: pg.PoolClient, backedUpAt: string): Promise<readonly string[]> {
  await client.query(
    `insert into place_notes as known (connection, backed_up_at) select distinct connection, $1::timestamptz from pairs
     where base is not null and lead_deleted_at is null
     on conflict (connection) do update set backed_up_at = coalesce(known.backed_up_at, excluded.backed_up_at)`,
    [backedUpAt],
  );
  // The first night compares every record.
  await client.query('update place_notes set read_tag = null');
  await client.query('insert into keeper default values on conflict do nothing');
  await client.query('update keeper set restored_at = now()');
  await client.query(
    `update mails set state = 'missed', updated_at = now(), note = '${mayBeSent}'
     where state in ('scheduled', 'sending') and send_at <= now()`,
  );
  const keys = await columnOf<string>(
    client,
    'select connection from place_notes where backed_up_at is not null order by 1',
  );
  return [...new Set(keys.map(connectionOf))];
}

/** Without the database's own message, which may quote a row. */
function asFault(cause: unknown): unknown {
  if (cause instanceof LeadsyncError) return cause;
  const sqlState = cause instanceof pg.DatabaseError ? (cause.code ?? '') : null;
  if (sqlState === '53100')
    return new LeadsyncError('database.disk-full', 'The disk of the database is full. Nothing was changed', {
      retry: 'later',
      help: 'Make room there, and try again.',
      cause,
    });
  if (sqlState === '55P03')
    return new LeadsyncError(
      'database.in-use',
      'Another session has locked a table of leadsync. Nothing was changed',
      { retry: 'later', help: 'End the other sessions on this database, and try again.', cause },
    );
  if (isDatabaseOutage(cause))
    return new LeadsyncError(
      'database.unavailable',
      'The connection to the database was lost. Nothing was changed',
      {
        retry: 'later',
        help: 'Try again when the database is back.',
        cause,
      },
    );
  if (sqlState === null) return cause;
  return new LeadsyncError(
    'database.restore-failed',
    `The database refuses the backup (SQLSTATE ${sqlState}). Nothing was changed`,
    {
      help: 'The user of DATABASE_URL must own the tables of the schema leadsync, or may create it. Otherwise try another backup.',
      cause,
    },
  );
}
