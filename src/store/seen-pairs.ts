import type { MergedPlace } from '../core/merge/plan.ts';
import { columnOf, type Queryable, valueOf } from './database.ts';
import type { RunRef } from './runs.ts';

/** On which side a pair was met. */
export type Side = 'lead' | 'row';

const idsInChunk = 65_536;

/** The pairs that a scan has met on a side, of which there may be millions: a bit each. */
export class SeenPairs {
  readonly #chunks = new Map<number, Uint8Array>();
  /** The seals that it came upon or made (see seals.ts), since it was taken up. */
  readonly seals = new Set<number>();

  has(id: number): boolean {
    const byte = this.#chunks.get(Math.floor(id / idsInChunk))?.[(id % idsInChunk) >> 3] ?? 0;
    return (byte & (1 << (id & 7))) !== 0;
  }

  /** Returns false when the id was in it before. */
  add(id: number): boolean {
    const key = Math.floor(id / idsInChunk);
    const place = id % idsInChunk;
    const chunk = this.#chunks.get(key) ?? new Uint8Array(idsInChunk / 8);
    this.#chunks.set(key, chunk);
    const [byte, bit] = [place >> 3, 1 << (place & 7)];
    const isNew = ((chunk[byte] ?? 0) & bit) === 0;
    chunk[byte] = (chunk[byte] ?? 0) | bit;
    return isNew;
  }
}

/** Whether the connection has any pair. */
export async function hasPairs(db: Queryable, connection: string): Promise<boolean> {
  const text = `select exists (select from pairs where connection = $1)`;
  return (await valueOf<boolean>(db, text, [connection])) === true;
}

/** The pairs that the scan of a run has met so far on a side. */
export async function loadSeen(db: Queryable, runId: number, side: Side): Promise<SeenPairs> {
  const text = `select pair_ids from seen_pairs where run_id = $1 and side = $2`;
  const met = new SeenPairs();
  for (const ids of await columnOf<readonly string[]>(db, text, [runId, side]))
    for (const id of ids) met.add(Number(id));
  return met;
}

/**
 * Remembers pairs that a scan has met on a side; none of them may be remembered already. `unmoved`: how many more of all
 * that it has met so far are not staged, for they show the baseline; less than none when one is staged after all.
 */
export async function storeSeen(
  db: Queryable,
  runId: number,
  side: Side,
  ids: readonly number[],
  unmoved: number,
): Promise<void> {
  if (ids.length === 0 && unmoved === 0) return;
  const values = [runId, side, ids, unmoved];
  await db.query(`insert into seen_pairs (run_id, side, pair_ids, unmoved) values ($1, $2, $3, $4)`, values);
}

/** Remembers the pairs of seals, all of which show their baseline. */
export async function storeSealed(
  db: Queryable,
  runId: number,
  side: Side,
  sealIds: readonly number[],
): Promise<void> {
  if (sealIds.length === 0) return;
  await db.query(
    `insert into seen_pairs (run_id, side, pair_ids, unmoved)
     select $1, $2, pair_ids, cardinality(pair_ids) from seals where id = any($3)`,
    [runId, side, sealIds],
  );
}

/** Finds the pairs that a complete scan has not met on one side or on both. Called once, after all rows are staged. */
export async function noteAbsent(db: Queryable, run: RunRef): Promise<void> {
  // In most nights all were met, and to find none takes as long as to compare all.
  const areAllMet = await valueOf<boolean>(
    db,
    `select (select count(*) from pairs where connection = $2) = all (array[
       coalesce(sum(cardinality(pair_ids)) filter (where side = 'lead'), 0),
       coalesce(sum(cardinality(pair_ids)) filter (where side = 'row'), 0)])
     from seen_pairs where run_id = $1`,
    [run.id, run.connection],
  );
  if (areAllMet === true) return;
  await db.query(
    `with met as materialized (select side, unnest(pair_ids) as id from seen_pairs where run_id = $1)
     insert into absent_pairs (run_id, lead_id, lead, row)
     select $1, p.lead_id, l.id is null, t.id is null from pairs p
     left join (select id from met where side = 'lead') l on l.id = p.id
     left join (select id from met where side = 'row') t on t.id = p.id
     where p.connection = $2 and (l.id is null or t.id is null)`,
    [run.id, run.connection],
  );
}

/** Notes which of the missed rows were merged into others: these are not gone. `merged`: by where they stood. */
export async function noteMerged(
  db: Queryable,
  run: RunRef,
  merged: ReadonlyMap<number, MergedPlace>,
): Promise<void> {
  if (merged.size === 0) return;
  const json = JSON.stringify([...merged].map(([was, { row, message }]) => ({ was, row, message })));
  await db.query(
    `update absent_pairs m set merged = json_build_object('row', n."row", 'message', n.message)
     from json_to_recordset($3::json) as n (was bigint, "row" bigint, message text), pairs p
     where m.run_id = $1 and m.row and p.connection = $2 and p.lead_id = m.lead_id and p.row_number = n.was`,
    [run.id, run.connection, json],
  );
}
