import { idKey } from '../core/lead/lead.ts';
import { columnOf, mapOf, type Queryable, valueOf } from './database.ts';
import type { RunRef } from './runs.ts';

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

/**
 * Gives rows that were staged before their leads were the service's spelling of their ids. Called once, after both sides are
 * staged. Returns these ids.
 */
export async function respellRows(db: Queryable, run: RunRef): Promise<readonly string[]> {
  const leadIds = await columnOf<string>(
    db,
    `update staged_rows r set lead_id = s.lead_id from lead_spellings s
     where r.run_id = $1 and s.connection = $2 and r.lead_id = s.lead_key returning r.lead_id`,
    [run.id, run.connection],
  );
  if (leadIds.length === 0) return leadIds;
  // A further row with the id may have been staged in the new spelling.
  await db.query(
    `update staged_rows r set duplicate = true where run_id = $1 and lead_id = any($2) and not duplicate
       and exists (select from staged_rows e where e.run_id = $1 and e.lead_id = r.lead_id and e.ordinal < r.ordinal)`,
    [run.id, leadIds],
  );
  return leadIds;
}
