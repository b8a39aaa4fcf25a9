import { firstOf, type Queryable } from './database.ts';

/** The contents of the rows below the range of a table that the last sync took for notes. */
export async function notesBelow(db: Queryable, connection: string): Promise<ReadonlySet<string>> {
  const known = await firstOf<{ hashes: string[] }>(
    db,
    'select hashes from rows_below where connection = $1',
    [connection],
  );
  return new Set(known?.hashes);
}

export async function keepNotesBelow(
  db: Queryable,
  connection: string,
  hashes: readonly string[],
): Promise<void> {
  await db.query(
    `insert into rows_below (connection, hashes) values ($1, $2)
     on conflict (connection) do update set hashes = excluded.hashes where rows_below.hashes <> excluded.hashes`,
    [connection, hashes],
  );
}
