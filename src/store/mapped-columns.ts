import type pg from 'pg';
import type { FieldMapping } from '../core/lead/mapping.ts';
import { clearFields } from './baselines.ts';
import { mapOf, type Queryable } from './database.ts';

const columnsOf = 'select field, column_name from mapped_columns where connection = $1';

type Columns = readonly Pick<FieldMapping, 'field' | 'column'>[];

/** The fields that were kept in another column when the connection was last synced: what was agreed on was that one's. */
export async function movedFields(
  db: Queryable,
  connection: string,
  columns: Columns,
): Promise<ReadonlySet<string>> {
  const known = await mapOf<string>(db, columnsOf, [connection]);
  const moved = columns.filter(({ field, column }) => (known.get(field) ?? column) !== column);
  return new Set(moved.map(({ field }) => field));
}

/** The fields that were not mapped yet when the connection was last synced; none before its first sync. */
export async function newFields(
  db: pg.Pool,
  connection: string,
  columns: Columns,
): Promise<readonly string[]> {
  const known = await mapOf<string>(db, columnsOf, [connection]);
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
  await db.query(
    `insert into mapped_columns (connection, field, column_name)
     select $1, field, "column" from json_to_recordset($2::json) as c (field text, "column" text)
     on conflict (connection, field) do update set column_name = excluded.column_name
       where mapped_columns.field = any($3::text[])`,
    [connection, JSON.stringify(columns), [...moved]],
  );
}
