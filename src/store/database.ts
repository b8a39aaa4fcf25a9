import pg from 'pg';
import { certificateHelp, isCertificateFault } from '../lib/certificate-fault.ts';
import { codeOf, LeadsyncError } from '../lib/errors.ts';
import { pacedClient, type PostgresUrl, revealed } from '../postgres/postgres-client.ts';
import { pooled, protocolViolation } from './own-session.ts';

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

/** The rows of a query. */
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
