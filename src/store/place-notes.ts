import type pg from 'pg';
import type { FieldMapping } from '../core/lead/mapping.ts';
import { clearFields } from './baselines.ts';
import { type Queryable, valueOf } from './database.ts';

type Columns = readonly Pick<FieldMapping, 'field' | 'column'>[];

/** By field the column in which it was kept at the last sync. */
async function knownColumns(db: Queryable, connection: string): Promise<ReadonlyMap<string, string>> {
  const text = 'select columns from place_notes where connection = $1';
  return new Map(Object.entries((await valueOf<Record<string, string>>(db, text, [connection])) ?? {}));
}

/** The fields that were kept in another column when the connection was last synced: what was agreed on was that one's. */
export async function movedFields(
  db: Queryable,
  connection: string,
  columns: Columns,
): Promise<ReadonlySet<string>> {
  const known = await knownColumns(db, connection);
  const moved = columns.filter(({ field, column }) => (known.get(field) ?? column) !== column);
  return new Set(moved.map(({ field }) => field));
}

/** The fields that were not mapped yet when the connection was last synced; none before its first sync. */
export async function newFields(
  db: pg.Pool,
  connection: string,
  columns: Columns,
): Promise<readonly string[]> {
  const known = await knownColumns(db, connection);
  return known.size === 0 ? [] : columns.map(({ field }) => field).filter((field) => !known.has(field));
}

/** Stores the columns, also missing ones, and clears the baselines of fields that moved to another column. */
export async function rememberColumns(
  db: pg.PoolClient,
  connection: string,
  columns: Columns,
  moved: ReadonlySet<string>,
): Promise<void> {
  if (moved.size > 0) await clearFields(db, connection, [...moved]);
  const now = Object.fromEntries(columns.map(({ field, column }) => [field, column]));
  const next = `excluded.columns || (coalesce(known.columns, '{}') - $3::text[])`;
  await db.query(
    `insert into place_notes as known (connection, columns) values ($1, $2) on conflict (connection)
     do update set columns = ${next} where known.columns is distinct from ${next}`,
    [connection, JSON.stringify(now), [...moved]],
  );
}

/** The contents of the rows below the range of a table that the last sync took for notes. */
export async function notesBelow(db: Queryable, connection: string): Promise<ReadonlySet<string>> {
  const text = 'select below from place_notes where connection = $1';
  return new Set(await valueOf<readonly string[]>(db, text, [connection]));
}

export async function keepNotesBelow(
  db: Queryable,
  connection: string,
  hashes: readonly string[],
): Promise<void> {
  await db.query(
    `insert into place_notes (connection, below) values ($1, $2) on conflict (connection)
     do update set below = excluded.below where place_notes.below is distinct from excluded.below`,
    [connection, hashes],
  );
}
