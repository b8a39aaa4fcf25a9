import pg from 'pg';
import { certificateHelp, isCertificateFault, LeadsyncError, type Retry } from '../../lib/errors.ts';
import type { Secret } from '../../config/secret.ts';
import { PostgresClient } from '../../postgres/postgres-client.ts';
import { visibleText } from '../../lib/foreign-text.ts';

/** By SQLSTATE prefix (PostgreSQL, appendix A); anything else is `target.refused`. */
const faults: readonly (readonly [state: string, code: string, retry: Retry, what: string])[] = [
  ['28', 'target.unauthenticated', 'never', 'wrong user or password'],
  ['42501', 'target.forbidden', 'never', 'grant SELECT, INSERT, UPDATE and DELETE'],
  ['42P01', 'target.not-found', 'never', 'the table does not exist'],
  ['3D', 'target.not-found', 'never', 'the database does not exist'],
  ['3F', 'target.not-found', 'never', 'the schema does not exist'],
  ['25P03', 'target.unavailable', 'later', 'the transaction took too long'],
  ['25006', 'target.not-writable', 'never', 'the database is read-only'],
  ['53100', 'target.disk-full', 'later', 'the disk is full'],
  ['55P03', 'target.busy', 'later', 'somebody else has locked the rows'],
  ['40', 'target.changed', 'now', 'somebody else wrote at the same moment'],
  ['42703', 'target.changed', 'now', 'its columns changed meanwhile'],
  ['08', 'target.unavailable', 'later', 'the connection failed'],
  ['53', 'target.unavailable', 'later', 'the server is out of resources'],
  ['57', 'target.unavailable', 'later', 'the server is shutting down or starting'],
  ['58', 'target.unavailable', 'later', "the server's system failed"],
];

/** The change can never be stored. */
export const refused = (message: string) => new LeadsyncError('target.refused', message);

/** Translates PostgreSQL's error, or the lack of a reply. */
export function raise(error: unknown, name: string): never {
  const said = error instanceof Error ? visibleText(error.message, 200) : '';
  if (!(error instanceof pg.DatabaseError)) {
    const message = `The database of ${name} cannot be reached, or the connection broke: ${said}`;
    throw new LeadsyncError('target.unavailable', message, {
      retry: 'later',
      ...(isCertificateFault(error) && { help: certificateHelp }),
    });
  }
  const fault = faults.find(([state]) => error.code?.startsWith(state));
  if (fault === undefined) throw refused(`PostgreSQL refused it: ${said}.`);
  const [, code, retry, what] = fault;
  throw new LeadsyncError(code, `${name}: ${what} (${said}).`, { retry });
}

/** Per statement: a server that vanished would otherwise be awaited forever. */
const mostMs = 10 * 60_000;

/** A client that is not connected yet. Throws `target.bad-url`. */
export function openClient(url: Secret, name: string): pg.Client {
  const bounds = { connectionTimeoutMillis: 10_000, query_timeout: mostMs };
  try {
    return new PostgresClient({ connectionString: url.reveal(), ...bounds });
  } catch (error) {
    const said = error instanceof Error ? visibleText(error.message, 200) : '';
    const message = `The address of the database of ${name} cannot be used: ${said}.`;
    throw new LeadsyncError('target.bad-url', message);
  }
}

/** Texts of one row, by column. */
export type Texts = (string | null)[];

/** Runs a statement. @throws LeadsyncError as `raise` does */
export type Ask = (text: string, values?: readonly unknown[]) => Promise<Texts[]>;

export async function attempt<T>(
  ask: Ask,
  isExpected: (code: string) => boolean,
  work: () => Promise<T>,
): Promise<T | LeadsyncError> {
  await ask('savepoint before_attempt');
  try {
    const result = await work();
    await ask('release savepoint before_attempt');
    return result;
  } catch (error) {
    if (!(error instanceof LeadsyncError) || !isExpected(error.code)) throw error;
    await ask('rollback to savepoint before_attempt');
    await ask('release savepoint before_attempt');
    return error;
  }
}

/** A table that this user may read. */
export interface ListedTable {
  /** `table` in the schema public, else `schema.table`. */
  readonly name: string;
  /** In their order. */
  readonly columns: readonly string[];
}

/** Ordinary tables alone; a name with a dot could not be written in the configuration. */
const tables = `
  select case when n.nspname = 'public' then '' else n.nspname || '.' end || c.relname as name,
    coalesce(array_agg(a.attname::text order by a.attnum) filter (where a.attname is not null), '{}') as columns
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
    left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relkind = 'r' and n.nspname !~ '^pg_|^information_schema$' and has_table_privilege(c.oid, 'select')
    and n.nspname !~ '[.]' and c.relname !~ '[.]'
  group by 1 order by 1`;

export async function listTables(url: Secret): Promise<readonly ListedTable[]> {
  const name = 'the tables';
  const client = openClient(url, name);
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query<ListedTable>(tables)).rows;
  } catch (error) {
    return raise(error, name);
  } finally {
    await client.end().catch(() => {});
  }
}
