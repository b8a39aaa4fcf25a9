import type pg from 'pg';
import type { FieldMapping } from '../lead/mapping.ts';

type Columns = readonly Pick<FieldMapping, 'field' | 'column'>[];

/** The fields that were kept in another column when the connection was last synced: what was agreed on was that one's. */
export async function movedFields(
  db: pg.PoolClient,
  connection: string,
  columns: Columns,
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ field: string; column: string }>(
    'select field, column_name as column from mapped_columns where connection = $1',
    [connection],
  );
  const known = new Map(rows.map(({ field, column }) => [field, column]));
  const moved = columns.filter(({ field, column }) => (known.get(field) ?? column) !== column);
  return new Set(moved.map(({ field }) => field));
}

/** Remembers the columns, and forgets what was agreed on in those that a field was moved from. */
export async function rememberColumns(
  db: pg.PoolClient,
  connection: string,
  columns: Columns,
  moved: ReadonlySet<string>,
): Promise<void> {
  if (moved.size > 0) {
    await db.query('update pairs set base = base - $2::text[] where connection = $1 and base ?| $2::text[]', [
      connection,
      [...moved],
    ]);
  }
  await db.query(
    `insert into mapped_columns (connection, field, column_name)
     select $1, * from unnest($2::text[], $3::text[])
     on conflict (connection, field) do update set column_name = excluded.column_name
       where mapped_columns.column_name <> excluded.column_name`,
    [connection, columns.map(({ field }) => field), columns.map(({ column }) => column)],
  );
}
