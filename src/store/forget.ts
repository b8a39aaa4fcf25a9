import type pg from 'pg';
import { columnOf, countOf, type Queryable } from './database.ts';
import { deleteInBatches } from './delete-batches.ts';
import { tablesOfPlaces } from './places.ts';

/** The rows of a connection are found by its own keys ($1, see places.ts), or by its runs. */
const ofKeys = 't.connection = any($1)';
const ofRuns = 't.run_id in (select id from runs where connection = any($1))';

const tablesOfRuns = ['run_sights', 'actions'] as const;
const tablesOfKeys = [
  ...tablesOfPlaces.filter((table) => table !== 'actions'),
  'mails',
  'follow_ups',
  'calendar_entries',
  'calendars',
  'alerts',
  // Last: by these a connection is found again when the others are not all gone yet.
  'runs',
  'places',
  'connections',
] as const;

/** A digest is a person's, of all connections: another one must not send a second one of the day. */
const isOld = `(kind <> 'digest' or local_date < current_date - 2)`;

/** The tables that hold anything of a connection, in the order in which they are emptied, and which rows are its own. */
export const ownedTables: readonly (readonly [table: string, where: string])[] = [
  ...tablesOfRuns.map((table) => [table, ofRuns] as const),
  ...tablesOfKeys.map((table) => [table, table === 'mails' ? `${ofKeys} and ${isOld}` : ofKeys] as const),
];

/** Rows of a table. */
export interface KeptRows {
  readonly table: string;
  readonly rows: number;
}

/** What is kept of a connection, and of its former places: tables with rows alone. */
export async function countKept(db: Queryable, connection: string): Promise<readonly KeptRows[]> {
  const keys = await keysOf(db, connection);
  const counts: KeptRows[] = [];
  for (const [table, where] of ownedTables) {
    const rows = await countOf(db, `from ${table} t where ${where}`, [keys]);
    if (rows > 0) counts.push({ table, rows });
  }
  return counts;
}

/**
 * Deletes a connection's data, also of its former places, in small statements; after `stop` the next call deletes the rest.
 * The caller ensures that no process syncs it. Returns the number of deleted rows by table.
 */
export async function forgetConnection(
  pool: pg.Pool,
  connection: string,
  stop: AbortSignal,
): Promise<readonly KeptRows[]> {
  const keys = await keysOf(pool, connection);
  const deleted: KeptRows[] = [];
  for (const [table, where] of ownedTables) {
    const old = `select t.ctid from ${table} t where ${where}`;
    const rows = await deleteInBatches(pool, { table, key: 'ctid', old }, [keys], stop);
    if (rows > 0) deleted.push({ table, rows });
  }
  return deleted;
}

/** Deletes the digests that `forgetConnection` had to leave, once their days are over, of connections not `configured` any more. */
export async function forgetOldDigests(db: Queryable, configured: readonly string[]): Promise<void> {
  await db.query(
    `delete from mails where kind = 'digest' and ${isOld} and connection <> all($1)
       and not exists (select from connections c where c.connection = mails.connection)`,
    [configured],
  );
}

/** Its name, and under which keys its former places and its pruned runs are kept. */
function keysOf(db: Queryable, connection: string): Promise<readonly string[]> {
  return columnOf(
    db,
    `select $1::text union select $1 || '#pruned' union select $1 || '#' || id from places where connection = $1`,
    [connection],
  );
}

/**
 * Connections with kept data that are not `configured` here, and that for `hours` no worker had in its configuration and no
 * run has moved.
 */
export function leftConnections(
  db: Queryable,
  configured: readonly string[],
  hours: number,
): Promise<readonly string[]> {
  return columnOf(
    db,
    `select connection from (
       select connection, max(progress_at) as at from runs where connection not like '%#%' group by 1
       union all select connection, noted_at from connections
       union all select connection, raised_at from alerts where over_at is null) signs
     where connection <> '' and connection <> all($1)
     group by 1 having max(at) < now() - $2 * interval '1 hour' order by 1`,
    [configured, hours],
  );
}
