import { idKey } from '../core/lead/lead.ts';
import { columnOf, mapOf, type Queryable } from './database.ts';
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

/** Those of all ids, or of some. */
export function loadSpellings(
  db: Queryable,
  connection: string,
  ids: readonly string[] | null = null,
): Promise<Spellings> {
  return mapOf(
    db,
    `select lead_key, lead_id from lead_spellings where connection = $1 and ($2::text[] is null or lead_key = any($2))`,
    [connection, ids?.map(idKey)],
  );
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
export function respellRows(db: Queryable, run: RunRef): Promise<readonly string[]> {
  return columnOf(
    db,
    `update staged_rows r set lead_id = s.lead_id from lead_spellings s
     where r.run_id = $1 and s.connection = $2 and r.lead_id = s.lead_key returning r.lead_id`,
    [run.id, run.connection],
  );
}
