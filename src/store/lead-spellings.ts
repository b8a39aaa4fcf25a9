import { idKey } from '../core/lead/lead.ts';
import { columnOf, mapOf, type Queryable, valueOf } from './database.ts';

/** Remembers the ids that the service spells otherwise than they are compared; of nearly all services none. */
export async function storeSpellings(
  db: Queryable,
  connection: string,
  leadIds: readonly string[],
): Promise<void> {
  const other = leadIds.filter((leadId) => idKey(leadId) !== leadId);
  if (other.length === 0) return;
  await db.query(
    `insert into lead_spellings (connection, lead_key, lead_id) select $1, * from unnest($2::text[], $3::text[])
     on conflict do nothing`,
    [connection, other.map(idKey), other],
  );
}

/** The ids that the service spells otherwise, by how they are compared. */
export type Spellings = ReadonlyMap<string, string>;

/** Whether the service spells any id otherwise than it is compared. */
export async function hasSpellings(db: Queryable, connection: string): Promise<boolean> {
  const text = `select exists (select from lead_spellings where connection = $1)`;
  return (await valueOf<boolean>(db, text, [connection])) === true;
}

/** Those of some ids. */
export async function loadSpellings(
  db: Queryable,
  connection: string,
  ids: readonly string[],
): Promise<Spellings> {
  if (ids.length === 0) return new Map();
  const text = `select lead_key, lead_id from lead_spellings where connection = $1 and lead_key = any($2)`;
  return mapOf(db, text, [connection, ids.map(idKey)]);
}

/** An id of a table, in the service's spelling where that is known. */
export function spelled(spellings: Spellings, id: string): string {
  const key = idKey(id);
  return spellings.get(key) ?? key;
}

/** All of them. */
export function allSpellings(db: Queryable, connection: string): Promise<readonly string[]> {
  return columnOf(db, `select lead_id from lead_spellings where connection = $1`, [connection]);
}
