import pg from 'pg';
import { certificateHelp, codeOf, isCertificateFault, LeadsyncError } from '../lib/errors.ts';
import { pacedClient, type PostgresUrl, revealed } from '../postgres/postgres-client.ts';
import type { Socket } from 'node:net';
import { randomUUID } from 'node:crypto';

/** How a server ends what is no part of the protocol: so a pooler refuses settings of a session, or a transaction. */
const protocolViolation = '08P01';

/**
 * Makes sure that each connection is a session of its own: leases, turns and settings belong to sessions. A pooler in
 * transaction mode deals out the sessions anew with each transaction. Throws `config.database-pooler`.
 */
export async function assertOwnSession(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  try {
    const { rows } = await client.query<{ pid: number; timeout: string }>(
      `select pg_backend_pid() as pid, current_setting('idle_in_transaction_session_timeout') as timeout`,
    );
    // The one setting of `openDatabase` that is hardly ever a default of a user or a database.
    if (rows[0]?.timeout !== '1min')
      throw pooled('does not pass on session settings, or DATABASE_URL sets its own options');
    // A pooler invents the process id that it sends when a connection begins.
    if ('processID' in client && client.processID === rows[0].pid) return;
    if (await isShared(client, pool)) throw pooled('gives each transaction another session');
  } finally {
    client.release();
  }
}

/** Whether what one connection sets is seen by another one, or is gone when the other is busy. */
async function isShared(client: pg.PoolClient, pool: pg.Pool): Promise<boolean> {
  const mark = randomUUID();
  const read = `select current_setting('leadsync.session', true) as mark`;
  await client.query(`set leadsync.session = '${mark}'`);
  const other = await pool.connect();
  try {
    await other.query('begin');
    const seen = await other.query<{ mark: string | null }>(read);
    const kept = await client.query<{ mark: string | null }>(read);
    await other.query('rollback');
    return seen.rows[0]?.mark === mark || kept.rows[0]?.mark !== mark;
  } catch (error) {
    if (codeOf(error) === protocolViolation) return true;
    throw error;
  } finally {
    other.release(true);
  }
}

/** `does`: what leadsync cannot work with. */
function pooled(does: string, cause?: unknown): LeadsyncError {
  return new LeadsyncError(
    'config.database-pooler',
    `A pooler (PgBouncer or the like) between leadsync and Postgres ${does}. Nothing was done`,
    {
      help: 'Set DATABASE_URL to the address of Postgres itself, which managed databases call direct or session.',
      cause,
    },
  );
}

/** The pool, or the connection of a transaction. */
export type Queryable = Pick<pg.Pool, 'query'>;

/** SQL for a moment as an ISO instant, to the ms. */
export const isoMs = (moment: string): string =>
  `to_char(${moment} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** SQL for a moment as epoch ms: a float, with parts of a ms. */
export const epochMs = (moment: string): string => `(extract(epoch from ${moment}) * 1000)::float8`;

/**
 * An instant (epoch ms) as Postgres reads it: to the millisecond in any year, which neither a float of seconds nor pg's
 * own text of a Date is.
 */
export function timestamp(epochMs: number): string {
  const date = new Date(epochMs);
  const year = date.getUTCFullYear();
  const rest = date.toISOString().slice(-20);
  return year > 0
    ? `${String(year).padStart(4, '0')}${rest}`
    : `${String(1 - year).padStart(4, '0')}${rest} BC`;
}

export async function rowsOf<Row extends object>(
  db: Queryable,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Row[]> {
  return (await db.query<Row>(text, [...values])).rows;
}

/** The first row of a query; null: there is none. */
export async function firstOf<Row extends object>(
  db: Queryable,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row | null> {
  return (await rowsOf<Row>(db, text, values))[0] ?? null;
}

/** The only column of the rows of a query. */
export async function columnOf<T>(
  db: Queryable,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly T[]> {
  const { rows } = await db.query<Record<string, T>>(text, [...values]);
  return rows.flatMap((row) => Object.values(row));
}

/** The only column of the first row of a query; null: there is none. */
export async function valueOf<T>(
  db: Queryable,
  text: string,
  values: readonly unknown[] = [],
): Promise<T | null> {
  return (await columnOf<T>(db, text, values))[0] ?? null;
}

/** The two columns of a query, as keys and values. */
export async function mapOf<T>(
  db: Queryable,
  text: string,
  values: readonly unknown[] = [],
): Promise<ReadonlyMap<string, T>> {
  const { rows } = await db.query<Record<string, T>>(text, [...values]);
  return new Map(rows.map((row) => Object.values(row) as unknown as [string, T]));
}

/** The row of a query that always has one. */
export async function oneOf<Row extends object>(
  db: Queryable,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row> {
  const row = await firstOf<Row>(db, text, values);
  if (row === null) throw new Error('the row is not in the database');
  return row;
}

/** The number of rows of a query, which begins with `from`. */
export async function countOf(db: Queryable, from: string, values: readonly unknown[]): Promise<number> {
  return (await oneOf<{ count: number }>(db, `select count(*)::int as count ${from}`, values)).count;
}

const connectTimeoutMs = 10_000;

/** A session that does nothing is kept for so long (ms): longer than any request to a service. */
const idleMs = 120_000;

/**
 * The server ends a transaction whose process says nothing for so long (ms): one that is paused, or cut off, in the
 * middle of it would keep others from the lease, and from all that it has locked, without end.
 */
const silentTransactionMs = 60_000;

/** How often (ms) a transaction says that its process is there, also while that waits for something else, or calculates in turns. */
export const signOfLifeMs = 15_000;

const int8 = 20;

/**
 * A pool of at most `max` connections, in which unqualified names mean the schema `leadsync`. Nothing is connected before
 * the first query. int8 is read as a number where that is exact, else as text; timestamptz as Date.
 *
 * A connection that cannot be made within 10 s rejects with `database.unreachable`, and so does opening a URL that
 * cannot be understood (retry never); one that a pooler refuses with `config.database-pooler`. A statement that fails rejects with pg's own error, whose `code` is the SQLSTATE.
 */
export function openDatabase({
  connectionString,
  max = mostConnections,
}: {
  readonly connectionString: PostgresUrl;
  readonly max?: number;
}): pg.Pool {
  const place = placeOf(revealed(connectionString));
  class Client extends pacedClient(connectionString, (cause) => unreachable(place, cause)) {
    constructor(config?: pg.ClientConfig) {
      // Here and not for the pool, where it would also end the wait for a connection that is only busy.
      super({ ...config, connectionTimeoutMillis: connectTimeoutMs });
    }
  }
  const pool = new pg.Pool({
    Client,
    max,
    keepAlive: true,
    // A server that a cut cable keeps silent is given up after some minutes, not hours.
    keepAliveInitialDelayMillis: 10_000,
    idleTimeoutMillis: idleMs,
    application_name: 'leadsync',
    options: `-c search_path=leadsync -c idle_in_transaction_session_timeout=${silentTransactionMs}`,
    types: {
      getTypeParser: (oid, format) =>
        // pg's own types: parsers return any, and the list of oids is an enum.
        // oxlint-disable-next-line typescript/no-unsafe-return, typescript/no-unsafe-enum-comparison
        oid === int8 && format !== 'binary' ? exactNumber : pg.types.getTypeParser(oid, format),
    },
  });
  pool.on('error', () => {});
  return pool;
}

/** Connections of a pool at most, and at least: with fewer, one run, its helpers and the other work of a worker would wait for each other. */
const [mostConnections, leastConnections] = [20, 8];

/** Takes a third of the connections that the server, the database and the user allow, so that two workers and a command have room. */
export async function fitPool(pool: pg.Pool): Promise<void> {
  const allowed = await valueOf<number>(
    pool,
    `select least(current_setting('max_connections')::int, nullif(datconnlimit, -1), nullif(rolconnlimit, -1))
     from pg_database, pg_roles where datname = current_database() and rolname = session_user`,
  );
  const third = Math.floor((allowed ?? 0) / 3);
  pool.options.max = Math.min(mostConnections, Math.max(leastConnections, third));
}

/**
 * `lasting`: on the disk before it is reported as done. `repeatable`: when the database server dies, the last moments of
 * it may be missing, as if the work had come less far. A lasting transaction that follows brings it to the disk as well,
 * so it is enough for all that has not left the process (PostgreSQL, Asynchronous Commit).
 */
export type Durability = 'lasting' | 'repeatable';

const begin: Readonly<Record<Durability, string>> = {
  lasting: 'begin',
  repeatable: 'begin; set local synchronous_commit = off',
};

/**
 * Runs `fn` in a transaction and commits it, or rolls it back and rejects with what `fn` threw. Rejects as well when
 * `fn` swallowed a failed statement, because Postgres then answers COMMIT with a rollback.
 */
export async function transaction<T>(
  pool: pg.Pool,
  fn: (client: pg.PoolClient) => Promise<T>,
  durability: Durability = 'lasting',
): Promise<T> {
  const client = await pool.connect();
  let broken = false;
  // A break between two statements: the next statement would only fail with "not queryable".
  let breakage: Error | null = null;
  const onBreak = (error: Error): void => {
    breakage ??= error;
  };
  client.on('error', onBreak);
  let isAsking = false;
  const signs = setInterval(() => {
    // A server that is silent would get a line of them when it wakes up.
    if (isAsking) return;
    isAsking = true;
    const done = (): void => {
      isAsking = false;
    };
    // What went wrong shows with the next statement.
    client.query('select 1').then(done, done);
  }, signOfLifeMs);
  try {
    await client.query(begin[durability]);
    const result = await fn(client);
    const { command } = await client.query('commit');
    if (command !== 'COMMIT')
      throw new Error('The transaction was rolled back: a statement in it had failed.');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => {
      broken = true;
    });
    throw error instanceof LeadsyncError ? error : (breakage ?? error);
  } finally {
    clearInterval(signs);
    client.off('error', onBreak);
    client.release(broken);
  }
}

function exactNumber(text: string): number | string {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : text;
}

/** Host, port and name of a database, for messages: no user and no password. */
export function placeOf(connectionString: string): string {
  try {
    const { host, port, database } = new pg.Client({ connectionString });
    return `${database ?? 'the default database'} at ${host}:${port}`;
  } catch {
    // The cause holds the URL with its password.
    throw new LeadsyncError('database.unreachable', 'DATABASE_URL cannot be understood as a Postgres URL.', {
      help: 'Set it to postgres://USER:PASSWORD@HOST:5432/DATABASE, with special characters in the password percent-encoded.',
    });
  }
}

function unreachable(place: string, cause: unknown): LeadsyncError {
  const code = codeOf(cause);
  if (code === protocolViolation) return pooled('refuses session settings', cause);
  const reason = cause instanceof Error && cause.message !== '' ? cause.message : (code ?? 'no reason given');
  return new LeadsyncError('database.unreachable', `The database ${place} cannot be reached: ${reason}`, {
    retry: 'later',
    help: isCertificateFault(cause)
      ? certificateHelp
      : 'Check that Postgres is running and that its address names the right host, user, password and database.',
    cause,
  });
}

/** Below it Postgres joins fast in any way; above, its planner has to know what there is. */
const manyRecords = 5_000;

/** Whether this many new records need statistics. */
export function isMany(records: number): boolean {
  return records >= manyRecords;
}

/**
 * Tells the planner of Postgres of the actions of a large plan: of a new run it knows nothing otherwise, and takes it for one
 * action. Not within a transaction: two runs would wait for each other.
 */
export async function analyzeActions(pool: pg.Pool): Promise<void> {
  await pool.query(`analyze actions (id, run_id, round, kind, state, lead_id)`);
}

/** The same for the pairs, of which a large scan has brought many new ones. */
export async function analyzePairs(pool: pg.Pool): Promise<void> {
  await pool.query(`analyze pairs (connection, lead_id)`);
}

/**
 * The rows of a query as they come, over a connection of its own. What was received and is not used yet is one chunk of the socket, and
 * the row that it ends in: the server waits meanwhile. Throws when the connection breaks.
 */
export async function* streamRows<Row extends object>(
  pool: pg.Pool,
  text: string,
  values: readonly unknown[],
): AsyncGenerator<Row, void> {
  const client = await pool.connect();
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection;
  const now = {
    ready: [] as Row[],
    end: null as null | { readonly error?: Error },
    change: Promise.withResolvers<void>(),
  };
  const end = (error?: Error): void => {
    now.end ??= error === undefined ? {} : { error };
    now.change.resolve();
  };
  try {
    client
      .query(new pg.Query<Row>(text, [...values]))
      .on('row', (row) => {
        if (now.ready.push(row) > 1) return;
        stream.pause();
        now.change.resolve();
      })
      .on('end', () => end())
      .on('error', end);
    for (;;) {
      if (now.ready.length === 0 && now.end === null) await now.change.promise;
      const { ready } = now;
      if (ready.length === 0) break;
      now.ready = [];
      now.change = Promise.withResolvers();
      yield* ready;
      stream.resume();
    }
    if (now.end?.error !== undefined) throw now.end.error;
  } finally {
    stream.resume();
    // Not ended: that would wait for a server that is gone. The connection ends, and the query with it.
    client.release(now.end === null || now.end.error !== undefined);
  }
}

/** Few enough that each statement is short. */
export const usualBatchSize = 1_000;

/**
 * Deletes what `old` chooses (a query for the key of `table`, with $1, $2 … of `values`), few rows in each statement, so that none
 * holds locks for long, until nothing is left or `stop` aborts. What another process deletes at that moment is passed over.
 * Returns how many were deleted.
 */
export async function deleteInBatches(
  pool: pg.Pool,
  { table, key, old }: { readonly table: string; readonly key: 'id' | 'ctid'; readonly old: string },
  values: readonly unknown[],
  stop: AbortSignal,
  batchSize = usualBatchSize,
): Promise<number> {
  // An array: chosen once, and each row found by its place, whatever way the planner takes.
  const text = `delete from ${table} where ${key} = any(array(${old} limit ${batchSize} for update of t skip locked))`;
  let total = 0;
  for (let deleted = batchSize; deleted >= batchSize && !stop.aborted; total += deleted) {
    const { rowCount } = await pool.query(text, [...values]);
    deleted = rowCount ?? 0;
  }
  return total;
}
