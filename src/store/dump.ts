import { to as copyTo } from 'pg-copy-streams';
import type pg from 'pg';
import { LeadsyncError } from '../lib/errors.ts';
import type { RanMigration } from './migrate.ts';
import { mapOf, oneOf, rowsOf, valueOf } from './database.ts';
import { z } from 'zod';

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

const dumpFormat = 'leadsync-backup-1';

/** Says of which table what is under way is, and how many bytes of it have passed. */
export type OnDumpProgress = (table: string, bytes: number) => void;

/** Leases, what an open scan has stored, and the ledger, which is in the header. */
const leftOut = ['leases', 'run_sights', 'migrations'];

/** What COPY writes, and reads, in the same form on every server. */
export const copySettings = `set local search_path to leadsync; set local datestyle to 'ISO, YMD'; set local timezone to 'UTC';
  set local intervalstyle to 'postgres'; set local extra_float_digits to 3; set local client_encoding to 'UTF8'`;

/** The line after the rows of a table: COPY never writes it as a row. */
const endOfRows = '\\.';

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

/** Names as the schema has them: they become part of a statement. */
const name = z.string().regex(/^[a-z_]+$/);
const column = z.string().regex(/^"?[a-z_]+"?$/);
const header = z.object({
  format: z.literal(dumpFormat),
  leadsync: z.string(),
  at: z.iso.datetime(),
  migrations: z.array(z.object({ name: z.string(), checksum: z.string() })),
  sequences: z.record(name, z.number().int()),
  isMove: z.boolean().default(false),
});
const table = z.object({ table: name, columns: z.array(column) });
const end = z.object({ rows: z.record(name, z.number().int()) });

/** The rows of a table, which are to be read to their end before anything else. */
interface DumpTable {
  readonly table: string;
  readonly columns: readonly string[];
  readonly rows: AsyncIterable<Buffer>;
}

/** The longest line that is none of rows. */
const longestLine = 1_000_000;
const terminator = Buffer.from(`\n${endOfRows}\n`);

/**
 * What `dumpState` has written, part by part. Each throws `usage.backup-broken` for anything else, and for a backup that ends
 * too early.
 */
export class DumpReader {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async header(): Promise<DumpHeader> {
    return parsed(header, await this.#line());
  }

  /** Each table, and at last how many rows each should have had. */
  async next(): Promise<DumpTable | z.infer<typeof end>> {
    const found = parsed(z.union([table, end]), await this.#line());
    if ('table' in found) return { ...found, rows: this.#rows() };
    // The sum of the file is checked where it ends.
    if (this.#rest.length > 0 || (await this.#more())) throw broken('data follows its end');
    return found;
  }

  /** Lets go of the source, wherever it is: a database that is read has a connection open for it. */
  async close(): Promise<void> {
    await this.#source.return?.();
  }

  async #line(): Promise<string> {
    for (;;) {
      const at = this.#rest.indexOf('\n');
      if (at >= 0) {
        const text = this.#rest.toString('utf8', 0, at);
        this.#rest = this.#rest.subarray(at + 1);
        return text;
      }
      if (this.#rest.length > longestLine) throw broken('its first line is too long');
      if (!(await this.#more())) throw broken('it ends too early');
    }
  }

  async *#rows(): AsyncGenerator<Buffer, void> {
    // With the end of the line before them, so that the terminator is the same after no rows at all.
    this.#rest = Buffer.concat([Buffer.from('\n'), this.#rest]);
    let skip = 1;
    for (;;) {
      const at = this.#rest.indexOf(terminator);
      const until = at >= 0 ? at + 1 : this.#rest.length - terminator.length + 1;
      if (until > skip) {
        yield this.#rest.subarray(skip, until);
        this.#rest = this.#rest.subarray(until);
        skip = 0;
      }
      if (at >= 0) {
        this.#rest = this.#rest.subarray(skip + terminator.length - 1);
        return;
      }
      if (!(await this.#more())) throw broken('it ends too early');
    }
  }

  async #more(): Promise<boolean> {
    const next: IteratorResult<Buffer, unknown> = await this.#source.next();
    if (next.done === true) return false;
    const { value } = next;
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value]);
    return true;
  }
}

/** The backup is incomplete, or none. */
export function broken(why: string, cause?: unknown): LeadsyncError {
  return new LeadsyncError(
    'usage.backup-broken',
    `This is not a complete leadsync backup: ${why}. Nothing was changed`,
    {
      help: 'Restore another backup: one file, as leadsync backup wrote it.',
      cause,
    },
  );
}

function parsed<T>(schema: z.ZodType<T>, text: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    // The cause may quote the data.
    if (cause instanceof SyntaxError || cause instanceof z.ZodError) throw broken('it has other content');
    throw cause;
  }
}
