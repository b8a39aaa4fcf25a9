import { idKey } from '../core/lead/lead.ts';
import { mapOf, type Queryable, valueOf } from './database.ts';
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

/** Whether the service spells any id otherwise than it is compared. */
export async function hasSpellings(db: Queryable, connection: string): Promise<boolean> {
  const text = `select exists (select from lead_spellings where connection = $1)`;
  return (await valueOf<boolean>(db, text, [connection])) === true;
}

/** Ids of a table, each in the service's spelling where that is known. */
export async function asServiceSpells(
  db: Queryable,
  connection: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const keys = ids.map(idKey);
  const spelled = await mapOf<string>(
    db,
    `select lead_key, lead_id from lead_spellings where connection = $1 and lead_key = any($2)`,
    [connection, keys],
  );
  return new Map(ids.map((id, nth) => [id, spelled.get(keys[nth] ?? '') ?? keys[nth] ?? id]));
}

/**
 * Gives rows that were staged before their leads were the service's spelling of their ids, and notes that their pairs were
 * met. Called once, after both sides are staged.
 */
export async function respellRows(db: Queryable, run: RunRef): Promise<void> {
  await db.query(
    `with respelled as (
       update staged_rows r set lead_id = s.lead_id from lead_spellings s
       where r.run_id = $1 and s.connection = $2 and r.lead_id = s.lead_key returning r.lead_id)
     insert into seen_pairs (run_id, side, pair_ids)
     select $1, 'row', array_agg(distinct p.id) from respelled join pairs p on p.connection = $2 and p.lead_id = respelled.lead_id
     having count(*) > 0`,
    [run.id, run.connection],
  );
}
