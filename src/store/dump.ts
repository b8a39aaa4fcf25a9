import { to as copyTo } from 'pg-copy-streams';
import type pg from 'pg';
import { LeadsyncError } from '../lib/errors.ts';
import type { RanMigration } from './migrate.ts';
import { mapOf, oneOf, rowsOf, valueOf } from './database.ts';

/** The first line of a backup. `leadsync`: the version that wrote it. `sequences`: the last number that each table has given out. */
export interface DumpHeader {
  readonly format: typeof dumpFormat;
  readonly leadsync: string;
  /** ISO instant, by the clock of the database. */
  readonly at: string;
  readonly migrations: readonly RanMigration[];
  readonly sequences: Readonly<Record<string, number>>;
  /** Nothing works any more with the state that it was taken of: nothing has happened since. */
  readonly isMove: boolean;
}

export const dumpFormat = 'leadsync-backup-1';

/** Says of which table what is under way is, and how many bytes of it have passed. */
export type OnDumpProgress = (table: string, bytes: number) => void;

/** Leases, what an open scan has stored, and the ledger, which is in the header. */
const leftOut = ['leases', 'run_sights', 'migrations'];

/** What COPY writes, and reads, in the same form on every server. */
export const copySettings = `set local search_path to leadsync; set local datestyle to 'ISO, YMD'; set local timezone to 'UTC';
  set local intervalstyle to 'postgres'; set local extra_float_digits to 3; set local client_encoding to 'UTF8'`;

/** The line after the rows of a table: COPY never writes it as a row. */
export const endOfRows = '\\.';

/**
 * Streams one snapshot of the whole state, while other processes keep writing: a header; for each table a line with its name,
 * its rows as COPY writes them, and `endOfRows`; at the end the number of rows by table. All lines but rows are JSON.
 * `movedAt`: an ISO instant, for `noteMove`. Throws `database.no-state` when there is no state.
 */
export async function* dumpState(
  pool: pg.Pool,
  leadsync: string,
  onProgress: OnDumpProgress,
  movedAt: string | null = null,
): AsyncGenerator<Buffer, void> {
  const client = await pool.connect();
  let isComplete = false;
  try {
    await client.query(`begin isolation level repeatable read read only; ${copySettings}`);
    const header = await readHeader(client, leadsync);
    yield line({ ...header, at: movedAt ?? header.at, isMove: movedAt !== null });
    const counts: Record<string, number> = {};
    for (const { name, columns } of await listTables(client)) {
      yield line({ table: name, columns });
      const rows = client.query(copyTo(`copy ${name} (${columns.join(', ')}) to stdout`));
      let bytes = 0;
      for await (const chunk of rows as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        onProgress(name, bytes);
        yield chunk;
      }
      yield Buffer.from(`${endOfRows}\n`);
      counts[name] = rows.rowCount;
    }
    yield line({ rows: counts });
    await client.query('rollback');
    isComplete = true;
  } finally {
    // A consumer that stops within a table leaves the connection in the middle of a COPY.
    client.release(!isComplete);
  }
}

/** Whether the database has a state. */
export async function hasState(client: pg.PoolClient): Promise<boolean> {
  return (await valueOf(client, `select to_regclass('leadsync.runs')`)) !== null;
}

/** Throws `database.no-state` when there is none. */
export async function assertState(client: pg.PoolClient): Promise<void> {
  if (await hasState(client)) return;
  throw new LeadsyncError('database.no-state', 'This database has no leadsync state.', {
    help: 'Check that DATABASE_URL or DATA_DIR is that of the worker.',
  });
}

async function readHeader(client: pg.PoolClient, leadsync: string): Promise<Omit<DumpHeader, 'isMove'>> {
  await assertState(client);
  const text = 'select name, checksum from migrations order by name';
  const migrations = await rowsOf<RanMigration>(client, text);
  const at = await instantOf(client);
  return { format: dumpFormat, leadsync, at, migrations, sequences: await lastNumbers(client) };
}

/** When the transaction began, as an ISO instant. */
export async function instantOf(client: pg.PoolClient): Promise<string> {
  return (await oneOf<{ at: Date }>(client, 'select now() as at')).at.toISOString();
}

/** The last number of each table's sequence; tables that never used theirs are left out. */
export async function lastNumbers(client: pg.PoolClient): Promise<Readonly<Record<string, number>>> {
  const numbers = await mapOf<number | null>(
    client,
    `select c.relname, pg_sequence_last_value(pg_get_serial_sequence(format('leadsync.%I', c.relname), a.attname)) as last
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attidentity <> ''
     where c.relnamespace = to_regnamespace('leadsync') and c.relkind = 'r'`,
  );
  return Object.fromEntries([...numbers].flatMap(([name, last]) => (last === null ? [] : [[name, last]])));
}

/** Those that foreign keys point to come first. */
function listTables(
  client: pg.PoolClient,
): Promise<readonly { readonly name: string; readonly columns: readonly string[] }[]> {
  return rowsOf(
    client,
    `with recursive depths as (
       select oid, 0 as depth from pg_class where relnamespace = 'leadsync'::regnamespace
       union select f.conrelid, depth + 1 from depths join pg_constraint f on f.confrelid = depths.oid)
     select c.relname as name, array_agg(quote_ident(a.attname) order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     where c.relnamespace = 'leadsync'::regnamespace and c.relkind = 'r' and c.relname <> all($1)
     group by c.oid, c.relname
     order by (select max(depth) from depths where depths.oid = c.oid), c.relname`,
    [leftOut],
  );
}

function line(value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}
